//! Floors: the files of a crate import each other downward only, never in a circle.
//!
//! The sources of a crate are read. An import is a path in a `use`, or anywhere else outside of
//! tests and comments, followed through re-exports to the file that it ends in, so that no
//! re-export hides a circle. `mod` lines are none, nor is a re-export from below a file that makes
//! no use of it itself. Not seen: methods of values whose type is not named, what macros expand to,
//! and `super` within a module that has no file of its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// Text by path below `src`.
type Sources = BTreeMap<String, String>;
/// What each file imports.
type Imports = BTreeMap<String, BTreeSet<String>>;
/// A path, one name after another.
type Names = Vec<String>;

/// Checks the crate whose `Cargo.toml` lies in `manifest_dir`. `nouns` names the files whose
/// subject is told in several files, the others in the folder of that name: these may import it,
/// which counts for nothing.
///
/// # Panics
/// When files import each other in a circle, with their names; or when a noun makes none.
pub fn check(manifest_dir: &str, nouns: &[&str]) {
    let mut sources = Sources::new();
    read(&Path::new(manifest_dir).join("src"), "", &mut sources);
    let imports = imports(&sources);
    assert!(imports.values().any(|imported| !imported.is_empty()), "no import found: {imports:?}");
    let found = circles(&without(&imports, nouns));
    assert!(found.is_empty(), "files import each other in circles:\n{}", found.join("\n"));
    for (index, noun) in nouns.iter().enumerate() {
        let others = [&nouns[..index], &nouns[index + 1..]].concat();
        let needed = !circles(&without(&imports, &others)).is_empty();
        assert!(needed, "{noun} makes no circle with the files of its folder: leave it out");
    }
}

/// The imports but for those of a noun by the files of its folder.
fn without(imports: &Imports, nouns: &[&str]) -> Imports {
    let folder = |noun: &str| {
        let stem = noun.strip_suffix("/mod.rs").or(noun.strip_suffix(".rs")).unwrap_or(noun);
        format!("{stem}/")
    };
    let counts = |file: &str, imported: &str| {
        !nouns.iter().any(|noun| imported == *noun && file.starts_with(&folder(noun)))
    };
    let of = |(file, imported): (&String, &BTreeSet<String>)| {
        let kept = imported.iter().filter(|one| counts(file, one)).cloned().collect();
        (file.clone(), kept)
    };
    imports.iter().map(of).collect()
}

/// Every source in a folder and in those within it.
fn read(folder: &Path, prefix: &str, sources: &mut Sources) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of it").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            read(&path, &format!("{prefix}{name}/"), sources);
        } else if name.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            sources.insert(format!("{prefix}{name}"), text);
        }
    }
}

/// Circles without a file in common, the shortest first; none only where there is none at all.
fn circles(imports: &Imports) -> Vec<String> {
    let mut found: Vec<Vec<&str>> =
        imports.keys().filter_map(|file| shortest_circle(file, imports)).collect();
    found.sort_by_key(Vec::len);
    let mut seen = BTreeSet::new();
    found.retain(|circle| {
        let apart = circle.iter().all(|file| !seen.contains(file));
        seen.extend(circle.iter().copied().filter(|_| apart));
        apart
    });
    found.iter().map(|circle| format!("{} -> {}", circle.join(" -> "), circle[0])).collect()
}

/// The shortest way from a file back to itself.
fn shortest_circle<'a>(file: &'a str, imports: &'a Imports) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([vec![file]]);
    while let Some(way) = open.pop_front() {
        for next in &imports[*way.last()?] {
            if next == file {
                return Some(way);
            }
            if seen.insert(next) {
                open.push_back([&way[..], &[next]].concat());
            }
        }
    }
    None
}

/// A file as far as its imports go.
#[derive(Default)]
struct Module {
    file: String,
    /// Its words outside of `use`.
    body: Vec<String>,
    uses: Vec<Use>,
    /// What a name stands for that a `use` brought in, from the root of the crate.
    names: BTreeMap<String, Names>,
}

/// One name that a `use` brings in.
struct Use {
    path: Names,
    name: String,
    public: bool,
}

/// What each file imports; files that no `mod` line outside of tests names are left out.
fn imports(sources: &Sources) -> Imports {
    let mut modules = BTreeMap::new();
    let root = if sources.contains_key("lib.rs") { "lib.rs" } else { "main.rs" };
    add_module(root.into(), Names::new(), sources, &mut modules);
    let places: Vec<Names> = modules.keys().cloned().collect();
    // Twice, because a `use` may begin with a name that another brought in.
    for place in places.iter().chain(&places) {
        let named = modules[place].uses.iter().filter(|one| one.name != "*");
        let known = |one: &Use| Some((one.name.clone(), from_root(&one.path, place, &modules)?));
        let names = named.filter_map(known).collect();
        modules.get_mut(place).expect("a module").names = names;
    }
    let of =
        |(place, module): (_, &Module)| (module.file.clone(), imported(module, place, &modules));
    modules.iter().map(of).collect()
}

/// Reads the file of a module and of every module below it.
fn add_module(
    file: String,
    place: Names,
    sources: &Sources,
    modules: &mut BTreeMap<Names, Module>,
) {
    let words = without_tests(words(&sources[&file]));
    let mut module = Module { file, ..Module::default() };
    let mut at = 0;
    while at < words.len() {
        let next = |ahead: usize| words.get(at + ahead).map_or("", String::as_str);
        if next(0) == "mod" && next(2) == ";" {
            let below = [&place[..], &words[at + 1..at + 2]].concat();
            let stem = below.join("/");
            let candidates = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
            let child = candidates.into_iter().find(|name| sources.contains_key(name));
            let child = child.unwrap_or_else(|| panic!("no file for the module {stem}"));
            add_module(child, below, sources, modules);
            at += 3;
        // `use<'a>` says what a type captures.
        } else if next(0) == "use" && next(1) != "<" {
            let public = at > 0 && matches!(&*words[at - 1], "pub" | ")");
            at += 1;
            read_use(&words, &mut at, &[], public, &mut module.uses);
        } else {
            module.body.push(words[at].clone());
            at += 1;
        }
    }
    modules.insert(place, module);
}

/// Takes a tree of a `use` apart, up to what ends it.
fn read_use(words: &[String], at: &mut usize, before: &[String], public: bool, out: &mut Vec<Use>) {
    let mut path = before.to_vec();
    let mut name = None;
    loop {
        match &*words[*at] {
            "," | "}" | ";" => break,
            "::" => {}
            "as" => {
                *at += 1;
                name = Some(words[*at].clone());
            }
            "{" => {
                *at += 1;
                while words[*at] != "}" {
                    read_use(words, at, &path, public, out);
                    *at += usize::from(words[*at] == ",");
                }
                *at += 1;
                return;
            }
            word => path.push(word.into()),
        }
        *at += 1;
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
    out.push(Use { path, name, public });
}

/// The files that a module imports.
fn imported(module: &Module, place: &Names, modules: &BTreeMap<Names, Module>) -> BTreeSet<String> {
    let passed_on = |one: &&Use| {
        let below =
            from_root(&one.path, place, modules).is_some_and(|path| path.starts_with(place));
        one.public && below && one.name != "*" && !module.body.contains(&one.name)
    };
    let used = module.uses.iter().filter(|one| !passed_on(one)).map(|one| one.path.clone());
    let mut paths: Vec<Names> = used.collect();
    let body = &module.body;
    for start in 0..body.len().saturating_sub(1) {
        let before = &body[..start];
        // `pub(in path)` says who may import, and imports nothing.
        let continues =
            before.ends_with(&["::".into()]) || before.ends_with(&["(".into(), "in".into()]);
        if body[start + 1] == "::" && !continues {
            let rest = body[start..].chunks(2);
            let linked = rest.clone().take_while(|pair| pair.len() == 2 && pair[1] == "::").count();
            paths.push(rest.take(linked + 1).map(|pair| pair[0].clone()).collect());
        }
    }
    let whole = paths.iter().filter_map(|path| from_root(path, place, modules));
    whole.map(|path| file_of(path, modules)).filter(|file| *file != module.file).collect()
}

/// A path as it reads from the root of the crate; none where it leads out of the crate.
fn from_root(path: &[String], place: &Names, modules: &BTreeMap<Names, Module>) -> Option<Names> {
    let (first, rest) = path.split_first()?;
    if first == "crate" {
        return Some(rest.to_vec());
    }
    let steps = path.iter().take_while(|name| *name == "self" || *name == "super");
    let (steps, supers) = (steps.clone().count(), steps.filter(|name| *name == "super").count());
    if steps > 0 {
        return Some([&place[..place.len().saturating_sub(supers)], &path[steps..]].concat());
    }
    if modules.contains_key(&[place, &path[..1]].concat()) {
        return Some([place, path].concat());
    }
    modules[place].names.get(first).map(|known| [known, rest].concat())
}

/// The file that holds what a path from the root names, behind all re-exports.
fn file_of(mut path: Names, modules: &BTreeMap<Names, Module>) -> String {
    // More re-exports behind each other than a crate has files would be a circle of their own.
    for _ in 0..=modules.len() {
        let inner = (0..=path.len()).rev().find(|&end| modules.contains_key(&path[..end]));
        let (place, rest) = path.split_at(inner.expect("the root is a module"));
        let Some(known) = rest.first().and_then(|name| modules[place].names.get(name)) else {
            return modules[place].file.clone();
        };
        path = [known, &rest[1..]].concat();
    }
    panic!("{} is re-exported in a circle", path.join("::"));
}

/// The words and signs of a source, `::` as one, without comments and literals.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if let Some(length) = skipped(rest) {
            length
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let name = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let length = match name {
                0 if rest.starts_with("::") => 2,
                0 => first.len_utf8(),
                name => name,
            };
            words.push(rest[..length].to_owned());
            length
        };
        rest = &rest[length..];
    }
    words
}

/// Bytes of the comment or literal at the start; none where there is neither.
fn skipped(text: &str) -> Option<usize> {
    let to = |end: &str, from: usize| text[from..].find(end).map(|at| from + at + end.len());
    if text.starts_with("//") {
        return Some(to("\n", 0).unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return to("*/", 2);
    }
    if let Some(raw) = text.strip_prefix("br").or(text.strip_prefix('r')) {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            let start = text.len() - raw.len() + marks + 1;
            return to(&format!("\"{}", "#".repeat(marks)), start);
        }
    }
    if text.starts_with('"') {
        let mut escaped = true;
        return text.char_indices().find_map(|(at, c)| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends.then_some(at + 1)
        });
    }
    // A lifetime has no second quote.
    let mut character = text.strip_prefix('\'')?.chars();
    match character.next()? {
        '\\' => to("'", 3),
        one => (character.next()? == '\'').then_some(2 + one.len_utf8()),
    }
}

/// Leaves out every item under `#[cfg(test)]` or `#[cfg(all(test, ...))]`.
fn without_tests(words: Vec<String>) -> Vec<String> {
    const TEST: [&str; 5] = ["#", "[", "cfg", "(", "test"];
    const ALSO: [&str; 7] = ["#", "[", "cfg", "(", "all", "(", "test"];
    let mut kept = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let begins = |with: &[&str]| {
            words[at..].iter().zip(with).filter(|(a, b)| a == b).count() == with.len()
        };
        if !begins(&TEST) && !begins(&ALSO) {
            kept.push(words[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0;
        for word in &words[at..] {
            at += 1;
            depth += i32::from(word == "{") - i32::from(word == "}");
            if depth == 0 && (word == "}" || word == ";") {
                break;
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports_of(sources: &[(&str, &str)]) -> Imports {
        imports(&sources.iter().map(|&(file, text)| (file.into(), text.into())).collect())
    }

    #[test]
    fn a_circle_is_found_through_groups_re_exports_and_paths_in_the_text() {
        let imports = imports_of(&[
            ("lib.rs", "mod a; mod b; mod folder; pub use b::{Thing, other as renamed};"),
            ("a.rs", "use crate::{renamed, Thing};"),
            ("b.rs", "use std::fmt; use super::folder::{self, Item, deep::{More as Less, self}};"),
            ("folder/mod.rs", "pub(crate) mod deep; pub use self::deep::{Item, deep};"),
            ("folder/deep.rs", "fn f() { self::g(super::super::a::LENGTH) }"),
        ]);
        assert_eq!(circles(&imports), ["a.rs -> b.rs -> folder/deep.rs -> a.rs"]);
        assert!(imports["b.rs"].contains("folder/mod.rs"), "a module that is named itself");
    }

    #[test]
    fn a_table_beside_what_its_rows_import_is_a_circle_and_a_table_above_is_none() {
        let row = "use super::Row; pub const ROW: Row = Row;";
        let beside = "mod one; pub struct Row; pub static TABLE: &[Row] = &[one::ROW];";
        let found = circles(&imports_of(&[("lib.rs", beside), ("one.rs", row)]));
        assert_eq!(found, ["lib.rs -> one.rs -> lib.rs"]);
        let above = "mod one; mod row; pub use row::Row; pub static TABLE: &[Row] = &[one::ROW];";
        let sources = [("lib.rs", above), ("one.rs", row), ("row.rs", "pub struct Row;")];
        assert!(circles(&imports_of(&sources)).is_empty());
    }

    #[test]
    fn the_shortest_circles_are_named_each_file_once() {
        let imports = imports_of(&[
            ("lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
            ("a.rs", "use crate::{b::B, d::D};"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::{a::A, b::B};"),
            ("d.rs", "use crate::e::E;"),
            ("e.rs", "use crate::d::D;"),
        ]);
        assert_eq!(circles(&imports), ["b.rs -> c.rs -> b.rs", "d.rs -> e.rs -> d.rs"]);
    }

    #[test]
    fn comments_literals_tests_and_visibility_import_nothing() {
        let decoys = r##"
            // use crate::b::X;
            /* use crate::b::X; */
            const TEXT: &str = "\" use crate::b::X;";
            const RAW: &str = r#"" use crate::b::X;"#;
            const SIGNS: [char; 3] = ['"', '\'', '\\'];
            pub(in crate::b) fn borrowed<'a>(text: &'a str) -> impl Iterator + use<'a> {}
            #[cfg(test)]
            mod tests { use crate::b::X; fn f() { if true {} } }
            #[cfg(all(test, unix))]
            mod more_tests { use crate::b::X; }
            use crate::c::Y;
        "##;
        let imports = imports_of(&[
            ("main.rs", "mod a; mod b; mod c; #[cfg(test)] mod left_out;"),
            ("a.rs", decoys),
            ("b.rs", "use crate::a::borrowed;"),
            ("c.rs", ""),
            ("left_out.rs", "use crate::a::borrowed;"),
        ]);
        let of = |file: &str| imports[file].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((of("a.rs"), of("b.rs")), (vec!["c.rs"], vec!["a.rs"]));
        assert!(circles(&imports).is_empty() && !imports.contains_key("left_out.rs"));
    }

    #[test]
    fn a_noun_may_be_told_in_several_files_by_name() {
        let sources = [
            ("lib.rs", "mod noun; mod other;"),
            ("noun.rs", "mod part; pub struct Noun; fn f() { part::g() }"),
            ("noun/part.rs", "use super::Noun; pub fn g() {}"),
            ("other.rs", "use crate::noun::Noun;"),
        ];
        let imports = imports_of(&sources);
        assert_eq!(circles(&imports), ["noun.rs -> noun/part.rs -> noun.rs"]);
        assert!(circles(&without(&imports, &["noun.rs"])).is_empty());
        assert!(!circles(&without(&imports, &["other.rs"])).is_empty());
    }
}
