//! Own policies written in Python: classes whose objects are asked once per collection or per miss.
//!
//! A run goes on in Rust without the interpreter's lock; it is taken for each answer. What a policy
//! raises, and an answer that is none, ends the run with that error.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ftlab_engine::own::{
    CacheCandidates, Collected, Maker, OwnCache, OwnPlacement, OwnPolicies, OwnVictim,
    VictimCandidates,
};
use ftlab_lab::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMemoryView};
use pyo3::{IntoPyObjectExt, PyClass};

use crate::errors::exception;

/// Entries that `evict` is shown where a class does not say.
const WINDOW: u32 = 64;
/// Places, each with the method that its class must have.
const PLACES: [(&str, &str); 3] =
    [("victim", "choose"), ("placement", "apart"), ("cache", "evict")];

/// Blocks that can be collected. At one place of every list stands what is known of one block;
/// lists are memoryviews, which numpy takes without a copy (`numpy.asarray`).
#[pyclass(frozen, get_all, module = "ftlab")]
struct Blocks {
    /// Plane of all of them.
    plane: u32,
    /// Pages of each.
    pages_per_block: u32,
    /// Number of the block on the device, in ascending order.
    number: Py<PyAny>,
    /// Valid pages: what collecting it copies; fewer than `pages_per_block`.
    valid: Py<PyAny>,
    /// Times that it was erased.
    erases: Py<PyAny>,
    /// Pages that the device programmed since the block's last one.
    age: Py<PyAny>,
}

#[pymethods]
impl Blocks {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.number.bind(py).len()
    }
}

/// A block that is about to be emptied.
#[pyclass(frozen, get_all, module = "ftlab")]
struct Block {
    /// Its number on the device.
    number: u32,
    /// Pages of it.
    pages_per_block: u32,
    /// Valid pages, which will be copied.
    valid: u32,
    /// Times that it was erased.
    erases: u32,
    /// Pages that the device programmed since its last one.
    age: u32,
}

/// Entries of a map cache that could leave, the one used longest ago first.
#[pyclass(frozen, get_all, module = "ftlab")]
struct Entries {
    /// Logical page.
    page: Py<PyAny>,
    /// 1 where it differs from the map on flash, which must be written first; 0 elsewhere.
    changed: Py<PyAny>,
    /// Uses since it was loaded.
    uses: Py<PyAny>,
}

#[pymethods]
impl Entries {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.page.bind(py).len()
    }
}

/// An answer, as Python shows it.
fn told(answer: &Bound<'_, PyAny>) -> String {
    answer.repr().map_or_else(|_| "what has no repr".into(), |text| text.to_string())
}

/// Numbers as a memoryview with a format of the `struct` module.
fn view<const N: usize>(
    py: Python<'_>,
    numbers: impl Iterator<Item = [u8; N]>,
    format: &str,
) -> PyResult<Py<PyAny>> {
    let bytes: Vec<u8> = numbers.flatten().collect();
    let view = PyMemoryView::from(PyBytes::new(py, &bytes).as_any())?;
    Ok(view.call_method1("cast", (format,))?.unbind())
}

fn view_32(py: Python<'_>, numbers: &[u32]) -> PyResult<Py<PyAny>> {
    view(py, numbers.iter().map(|number| number.to_ne_bytes()), "I")
}

/// What ends a run: whether it is to end, for whatever reason, what the first policy that failed
/// raised until that is told, and the thread of Python that is being asked.
#[derive(Clone, Default)]
struct Failure(Arc<Ending>);

#[derive(Default)]
struct Ending {
    is_ended: Arc<AtomicBool>,
    raised: Mutex<Option<PyErr>>,
    asking: AtomicU64,
}

impl Failure {
    fn is_there(&self) -> bool {
        self.0.is_ended.load(Ordering::Relaxed)
    }

    /// The answer, or after any error the one that is always legal: the run ends soon.
    fn unless<T: Default>(&self, ask: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        if self.is_there() {
            return T::default();
        }
        let answer = Python::attach(|py| {
            let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
            self.0.asking.store(thread, Ordering::Relaxed);
            let answer = ask(py);
            self.0.asking.store(0, Ordering::Relaxed);
            answer
        });
        answer.unwrap_or_else(|error| {
            // What is told to end meanwhile was told why already.
            if !self.0.is_ended.swap(true, Ordering::Relaxed) {
                *self.0.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            T::default()
        })
    }
}

/// An object of a class that a caller gave.
struct Asked {
    /// None where making it failed.
    object: Option<Py<PyAny>>,
    name: Arc<str>,
    failure: Failure,
}

impl Asked {
    /// The place that a method names among so many.
    fn place<C: PyClass + Into<PyClassInitializer<C>>>(
        &self,
        method: &str,
        candidates: impl FnOnce(Python<'_>) -> PyResult<C>,
        length: usize,
    ) -> usize {
        self.failure.unless(|py| {
            let Some(object) = &self.object else { return Ok(0) };
            let candidates = Py::new(py, candidates(py)?)?;
            let answer = object.bind(py).call_method1(method, (candidates,))?;
            let place: Option<usize> = answer.extract().ok();
            place.filter(|&place| place < length).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "{}.{method} answered {}; legal: a place among the candidates, 0 to {}",
                    self.name,
                    told(&answer),
                    length - 1
                ))
            })
        })
    }

    /// What a method says of one thing.
    fn says<A>(&self, method: &str, argument: impl FnOnce(Python<'_>) -> PyResult<A>) -> bool
    where
        A: for<'py> IntoPyObject<'py>,
    {
        self.failure.unless(|py| {
            let Some(object) = &self.object else { return Ok(false) };
            let argument = argument(py)?.into_py_any(py)?;
            let answer = object.bind(py).call_method1(method, (argument,))?;
            answer.extract::<bool>().map_err(|_| {
                PyValueError::new_err(format!(
                    "{}.{method} answered {}; legal: True or False",
                    self.name,
                    told(&answer)
                ))
            })
        })
    }
}

struct Victim(Asked);

impl OwnVictim for Victim {
    fn choose(&self, candidates: &VictimCandidates) -> usize {
        let blocks = |py: Python<'_>| {
            Ok(Blocks {
                plane: candidates.plane,
                pages_per_block: candidates.pages_per_block,
                number: view_32(py, &candidates.blocks)?,
                valid: view_32(py, &candidates.valid)?,
                erases: view_32(py, &candidates.erases)?,
                age: view_32(py, &candidates.age)?,
            })
        };
        self.0.place("choose", blocks, candidates.blocks.len())
    }
}

struct Placement(Asked);

impl OwnPlacement for Placement {
    fn apart(&self, block: Collected) -> bool {
        let Collected { block: number, pages_per_block, valid, erases, age } = block;
        self.0
            .says("apart", |py| Py::new(py, Block { number, pages_per_block, valid, erases, age }))
    }
}

struct Cache {
    asked: Asked,
    window: u32,
    admits: bool,
}

impl OwnCache for Cache {
    fn window(&self) -> u32 {
        self.window
    }

    fn admit(&self, page: u32) -> bool {
        !self.admits || self.asked.says("admit", |_| Ok(page))
    }

    fn evict(&self, entries: &CacheCandidates) -> usize {
        let shown = |py: Python<'_>| {
            let changed = entries.changed.iter().map(|&changed| [u8::from(changed)]);
            Ok(Entries {
                page: view_32(py, &entries.pages)?,
                changed: view(py, changed, "B")?,
                uses: view_32(py, &entries.uses)?,
            })
        };
        self.asked.place("evict", shown, entries.pages.len())
    }
}

/// The policies of a run, and what became of them.
#[derive(Default)]
pub struct Policies {
    /// As the engine asks them.
    pub own: OwnPolicies,
    failure: Failure,
}

impl Policies {
    /// From a dict of classes: `victim`, `placement`, `cache`.
    ///
    /// # Errors
    /// An unknown place, or a class without the method of its place.
    pub fn of(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut policies = Policies::default();
        let Some(given) = given else { return Ok(policies) };
        for (place, class) in given {
            let place = place.to_string();
            let Some((_, method)) = PLACES.iter().find(|(known, _)| *known == place) else {
                let legal = PLACES.map(|(known, _)| known).join(", ");
                return Err(refused(
                    class.py(),
                    format!("policies: unknown place {place:?} ({legal})"),
                ));
            };
            let class = Class::of(&place, method, &class, &policies.failure)?;
            let own = &mut policies.own;
            match *method {
                "choose" => {
                    own.victim = Some(Maker::victim(&class.name(), move || Victim(class.made())))
                }
                "apart" => {
                    own.placement =
                        Some(Maker::placement(&class.name(), move || Placement(class.made())));
                }
                _ => own.cache = Some(Maker::cache(&class.name(), move || class.cache())),
            }
        }
        Ok(policies)
    }

    /// The flag that ends the run: of the observer and of the policies alike.
    pub fn is_ended(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.failure.0.is_ended)
    }

    /// Has a policy that is being asked raise `KeyboardInterrupt`: it may not answer for long.
    ///
    /// # Errors
    /// None but those of a broken Python.
    pub fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let thread = self.failure.0.asking.load(Ordering::Relaxed);
        if thread == 0 {
            return Ok(());
        }
        let ctypes = py.import("ctypes")?;
        let thread = ctypes.call_method1("c_ulong", (thread,))?;
        let error = ctypes.call_method1("py_object", (py.get_type::<PyKeyboardInterrupt>(),))?;
        let threads = ctypes.getattr("pythonapi")?;
        threads.call_method1("PyThreadState_SetAsyncExc", (thread, error)).map(drop)
    }

    /// What one of them raised, told once.
    pub fn error(&self) -> Option<PyErr> {
        self.failure.0.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.own.fmt(f)
    }
}

fn refused(py: Python<'_>, message: String) -> PyErr {
    exception(py, &Error::usage(message))
}

/// A class that a caller gave.
struct Class {
    class: Py<PyAny>,
    name: Arc<str>,
    failure: Failure,
}

impl Class {
    fn of(
        place: &str,
        method: &str,
        class: &Bound<'_, PyAny>,
        failure: &Failure,
    ) -> PyResult<Self> {
        let name = class.getattr("__name__").and_then(|name| name.extract::<String>());
        let Ok(name) = name.as_deref() else {
            return Err(refused(
                class.py(),
                format!(
                    "policies[{place:?}] must be a class, of which every run makes its own objects; it is {}",
                    told(class)
                ),
            ));
        };
        if !class.hasattr(method)? {
            return Err(refused(
                class.py(),
                format!("policies[{place:?}]: {name} has no method `{method}`"),
            ));
        }
        Ok(Class { class: class.clone().unbind(), name: name.into(), failure: failure.clone() })
    }

    fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// A new object.
    fn made(&self) -> Asked {
        let object = self.failure.unless(|py| self.class.call0(py).map(Some));
        Asked { object, name: Arc::clone(&self.name), failure: self.failure.clone() }
    }

    /// One with its window, and whether it has a method `admit`.
    fn cache(&self) -> Cache {
        let asked = self.made();
        let (window, admits) = self.failure.unless(|py| {
            let Some(object) = &asked.object else { return Ok((1, false)) };
            let object = object.bind(py);
            let window: u32 = match object.getattr_opt("window")? {
                Some(window) => window.extract()?,
                None => WINDOW,
            };
            if window == 0 {
                let message = format!("{}.window = 0; legal: 1 and more", self.name);
                return Err(PyValueError::new_err(message));
            }
            Ok((window, object.hasattr("admit")?))
        });
        Cache { asked, window, admits }
    }
}
