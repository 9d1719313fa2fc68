//! What a text after `--workload` means once names are looked up: specs in the place of names, and
//! real traces in the place of stand-ins where they are there.

use std::path::Path;

use ftlab_trace::Combination;
use ftlab_trace::synthetic::{BlendText, with_changes};

use crate::error::{Error, Result};
use crate::workload::files::{WORKLOADS, bundled_file, own_file};
use crate::workload::stand_in::{StandIn, requests_of};
use crate::workload::trace_dir::{self, Instead, Whole};

/// Does the text name a stand-in, alone or in a combination, whose real trace could take its place?
/// One with settings of its own (`financial:count=5`) has none.
pub fn real_can_replace(text: &str, folder: &Path) -> Result<bool> {
    if resolved(text, None, 0)?.stand_ins.is_empty() {
        return Ok(false);
    }
    let plain = WORKLOADS.iter().any(|workload| workload.name == text);
    Ok(plain || resolved(text, Some(folder), 0).is_ok())
}

/// Does a real trace of that folder take the place of a stand-in in the text?
pub fn is_replaced(text: &str, folder: &Path) -> Result<bool> {
    let stand_ins = |folder| Ok::<_, Error>(resolved(text, folder, 0)?.stand_ins.len());
    Ok(stand_ins(Some(folder))? < stand_ins(None)?)
}

/// The generated workload that a text means, with `by` added to each seed in it: another one of the
/// same statistics.
pub fn with_shifted_seeds(text: &str, by: u64) -> Result<String> {
    const KEY: &str = "seed=";
    let spec = resolved(text, None, 0)?.text;
    let mut parts = spec.split(KEY);
    let mut shifted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (seed, rest) = part.split_at(digits);
        let seed: u64 = seed.parse().map_err(|_| {
            Error::usage(format!("{text}: the seed '{seed}' is no number, and cannot be shifted"))
        })?;
        shifted += &format!("{KEY}{}{rest}", seed.wrapping_add(by));
    }
    Ok(shifted)
}

/// What a text means once names are looked up.
#[derive(Default)]
pub struct Resolved {
    /// A path, `-`, or an inline spec.
    pub text: String,
    /// The stand-ins in it.
    pub stand_ins: Vec<StandIn>,
    /// Real traces that took the place of stand-ins, and stand-ins that had to stay.
    pub notes: Vec<String>,
    /// The stand-in whose real trace is used.
    pub real: Option<String>,
    /// What that trace has, where it is the whole workload.
    pub whole: Option<Whole>,
}

/// The text with specs in the place of the names of workloads, or with `--trace-dir` the paths of
/// real traces. A file of that name comes first; settings may follow: `financial:count=1000`.
pub fn resolved(text: &str, folder: Option<&Path>, depth: usize) -> Result<Resolved> {
    /// Far more than combinations may be nested; the reader says how many.
    const DEPTH_MAX: usize = 16;
    let as_it_is = || Resolved { text: text.to_owned(), ..Resolved::default() };
    let exists = Path::new(text).exists();
    if !exists
        && depth < DEPTH_MAX
        && let Some(combination) = Combination::parse(text)?
    {
        return resolved_parts(combination, folder, depth);
    }
    if !exists && let Some(blend) = BlendText::parse(text)? {
        return resolved_blend(blend, depth);
    }
    let is_file = text.ends_with(".toml");
    if exists && !is_file {
        return Ok(as_it_is());
    }
    // Settings may follow a file of one's own as they do a name.
    let (name, settings) = match text.split_once(".toml:") {
        Some((file, settings)) if !is_file => (&text[..file.len() + 5], settings),
        _ if is_file => (text, ""),
        _ => text.split_once(':').unwrap_or((text, "")),
    };
    let is_file = name.ends_with(".toml");
    let file = match WORKLOADS.iter().find(|workload| workload.name == name) {
        Some(bundled) => bundled_file(bundled)?,
        None if is_file => own_file(name)?,
        None => return Ok(as_it_is()),
    };
    let mut notes = Vec::new();
    if let Some(folder) = folder.filter(|_| file.is_stand_in()) {
        match trace_dir::look(folder, name, &file.real)? {
            Instead::Real { path, .. } if !settings.is_empty() => {
                return Err(Error::usage(format!(
                    "{text}: settings have no effect on the real trace {path}; legal: {name} alone"
                )));
            }
            Instead::Real { path, verdict, whole } => {
                let note = match file.real.note.as_str() {
                    "" => String::new(),
                    note => format!(" Note: {note}."),
                };
                notes.push(format!(
                    "The real trace {path} was used in the place of the stand-in {name}: \
                     {verdict}.{note}"
                ));
                let real = Some(name.to_owned());
                return Ok(Resolved { text: path, stand_ins: Vec::new(), notes, real, whole });
            }
            Instead::Absent { reason } => {
                notes.push(format!("The stand-in {name} was used: {reason}."));
            }
        }
    }
    let mut changes = Vec::new();
    for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
        let (key, value) = setting.split_once('=').ok_or_else(|| {
            Error::usage(format!("{text}: '{setting}' has no value; legal: {name}:KEY=VALUE"))
        })?;
        changes.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let (spec, changed) = with_changes(&file.spec, &changes)?;
    if file.is_twin() {
        if name.contains([',', '(', ')']) {
            return Err(Error::usage(format!(
                "{name}: the file of a twin has a comma or a parenthesis in its path; legal: another name"
            )));
        }
        let spec = spec.replacen("twin:", &format!("twin:file={name},"), 1);
        return Ok(Resolved { text: spec, ..Resolved::default() });
    }
    let stand_ins = match file.is_stand_in() {
        true => vec![StandIn {
            name: name.to_owned(),
            source: file.source,
            changed,
            requests: requests_of(&file.spec),
            made: requests_of(&spec),
        }],
        false => Vec::new(),
    };
    Ok(Resolved { text: spec, stand_ins, notes, ..Resolved::default() })
}

fn resolved_parts(
    mut combination: Combination,
    folder: Option<&Path>,
    depth: usize,
) -> Result<Resolved> {
    let mut all = Resolved::default();
    for part in &mut combination.parts {
        let own = resolved(&part.text, folder, depth + 1)?;
        *part = part.with_text(own.text);
        all.stand_ins.extend(own.stand_ins);
        all.notes.extend(own.notes);
    }
    all.text = combination.to_string();
    Ok(all)
}

/// A named workload gives a blend its sizes, operations and addresses. No trace can take its place.
fn resolved_blend(mut blend: BlendText, depth: usize) -> Result<Resolved> {
    let mut all = Resolved::default();
    for (_, part) in &mut blend.parts {
        let own = resolved(part, None, depth + 1)?;
        if own.text != *part {
            *part = BlendText::part_of(&own.text);
        }
        let changed = |stand_in| StandIn { changed: true, requests: None, made: None, ..stand_in };
        all.stand_ins.extend(own.stand_ins.into_iter().map(changed));
    }
    all.text = blend.to_string();
    Ok(all)
}
