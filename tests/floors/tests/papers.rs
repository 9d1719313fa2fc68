//! What sources and documents cite is there: chapters of `docs/papers`, their headings, and the
//! settings that these name, with their defaults. Nothing cites a document that is not part of the
//! project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where sources lie.
const SOURCES: [&str; 3] = ["crates", "tests", "fuzz"];
const CHAPTERS: &str = "docs/papers/";

/// Text by path below the root.
type Texts = BTreeMap<String, String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Adds every file in a folder and in those within it that ends in one of `endings`.
fn read(folder: &str, endings: &[&str], texts: &mut Texts) {
    for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if root().join(&path).is_dir() {
            if name != "target" {
                read(&path, endings, texts);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            let text = std::fs::read_to_string(root().join(&path)).expect("text");
            texts.insert(path, text);
        }
    }
}

fn sources() -> Texts {
    let mut texts = Texts::new();
    SOURCES.iter().for_each(|folder| read(folder, &[".rs", ".toml", ".py"], &mut texts));
    assert!(texts.len() > 300, "few sources: {}", texts.len());
    texts
}

fn chapters() -> Texts {
    let mut texts = Texts::new();
    read(CHAPTERS.trim_end_matches('/'), &[".md"], &mut texts);
    assert!(texts.len() >= 6, "few chapters: {}", texts.len());
    texts
}

/// A section of an unnamed specification, cited by its number, also over the end of a line. Public
/// ones are cited by name, and with the whole word.
fn cites_a_foreign_section(text: &str) -> Option<String> {
    let comment = |word: &&str| !matches!(*word, "//" | "///" | "//!" | "#");
    let words: Vec<&str> = text.split_whitespace().filter(comment).collect();
    let named = |word: &str| {
        let letters = |letter: char| !letter.is_alphanumeric() && letter != '_';
        word.rsplit(letters).next().is_some_and(|last| last.eq_ignore_ascii_case("spec"))
    };
    let section =
        |word: &str| word.starts_with(|first: char| first.is_ascii_digit() || first == '§');
    let found = words.windows(2).find(|pair| named(pair[0]) && section(pair[1]))?;
    Some(found.join(" "))
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// Every chapter by path, with the anchors of its headings.
fn anchors() -> BTreeMap<String, BTreeSet<String>> {
    let heading = |line: &str| line.starts_with('#').then(|| anchor(line.trim_start_matches('#')));
    let of = |text: &str| text.lines().filter_map(heading).collect();
    chapters().iter().map(|(path, text)| (path.clone(), of(text))).collect()
}

/// The citations of chapters in a text, as paths below the root.
fn citations(text: &str) -> Vec<String> {
    let part = |letter: char| letter.is_alphanumeric() || "_./#-".contains(letter);
    let after = text.match_indices(CHAPTERS).map(|(start, _)| &text[start..]);
    let cited = after.map(|rest| rest.split(|letter| !part(letter)).next().unwrap_or(""));
    cited.map(|cited| cited.trim_end_matches('.').to_owned()).collect()
}

/// The links of a chapter to chapters, as paths below the root.
fn links(path: &str, text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.starts_with("http") && !target.starts_with(".."));
    let below = |target: &str| match target.strip_prefix('#') {
        Some(own) => format!("{path}#{own}"),
        None => format!("{CHAPTERS}{target}"),
    };
    local.map(below).collect()
}

/// Default of every setting, as it is written on a command line; none where the source does not
/// show it. By `group.key`.
fn settings(sources: &Texts) -> BTreeMap<String, Option<String>> {
    let mut found = BTreeMap::new();
    for text in sources.values() {
        let mut group = None;
        for line in text.lines() {
            if line.starts_with("    pub struct ") {
                group = line.split(" in \"").nth(1).and_then(|rest| rest.split('"').next());
            } else if line == "    }" {
                group = None;
            }
            let field =
                line.strip_prefix("        ").filter(|rest| !rest.starts_with([' ', '/', '#']));
            let (Some(group), Some((name, rest))) = (group, field.and_then(|f| f.split_once(": ")))
            else {
                continue;
            };
            let value = rest.split_once(" = ").map_or("", |(_, value)| value);
            let value = value.split(", legal(").next().unwrap_or("").trim_end_matches(',');
            found.insert(format!("{group}.{name}"), written(value, text, sources));
        }
    }
    assert!(found.len() > 250, "few settings: {}", found.len());
    found
}

/// A default as it is written on a command line.
fn written(value: &str, own: &str, sources: &Texts) -> Option<String> {
    if let Some((kind, variant)) = value.split_once("::") {
        let kind = format!("pub enum {kind} {{");
        let own = std::iter::once(own).filter(|text| text.contains(&kind));
        let text = own.chain(sources.values().map(String::as_str)).find(|t| t.contains(&kind))?;
        let body = text.split(&kind).nth(1)?.split("\n    }").next()?;
        let name = body.split(&format!(" {variant} = \"")).nth(1)?;
        return Some(name.split('"').next()?.to_owned());
    }
    match value {
        "Optional(None)" | "\"auto\".to_string()" => Some("auto".to_owned()),
        "true" | "false" => Some(value.to_owned()),
        number => number.replace('_', "").parse::<f64>().ok().map(|number| number.to_string()),
    }
}

/// The texts between backticks of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[test]
fn no_source_cites_a_document_that_readers_do_not_have() {
    let foreign = |(path, text): (&String, &String)| {
        cites_a_foreign_section(text).map(|cited| format!("{path}: \"{cited}\""))
    };
    let mut texts = sources();
    texts.extend(chapters());
    let found: Vec<String> = texts.iter().filter_map(foreign).collect();
    assert!(found.is_empty(), "cite the paper or docs/papers:\n{}", found.join("\n"));
}

#[test]
fn a_foreign_section_is_found_over_the_end_of_a_line() {
    let word = concat!("sp", "ec");
    for text in ["source(\"W 3.8: open\")", "// (W\n//! 2.5);", "# W §4, LAST", "by W 3.1."] {
        assert!(cites_a_foreign_section(&text.replace('W', word)).is_some(), "{text}");
    }
    for text in ["an inline W of 4 keys", "for (name, W) in [", "W: 4", "trace_W 1"] {
        assert_eq!(cites_a_foreign_section(&text.replace('W', word)), None, "{text}");
    }
}

#[test]
fn every_cited_chapter_and_heading_exists() {
    let anchors = anchors();
    let mut cited: Vec<(String, String)> = Vec::new();
    for (path, text) in sources() {
        cited.extend(citations(&text).into_iter().map(|one| (path.clone(), one)));
    }
    assert!(cited.len() > 100, "few citations: {}", cited.len());
    for (path, text) in chapters() {
        cited.extend(links(&path, &text).into_iter().map(|one| (path.clone(), one)));
    }
    for (path, one) in cited {
        let (chapter, heading) = one.split_once('#').unwrap_or((&one, ""));
        // The folder itself, and patterns of names, are no citations of a chapter.
        if chapter.ends_with(".md") {
            let there = anchors.get(chapter).unwrap_or_else(|| panic!("{path}: no {chapter}"));
            assert!(heading.is_empty() || there.contains(heading), "{path}: no heading {one}");
        }
    }
}

#[test]
fn chapters_name_settings_that_exist_and_print_their_defaults() {
    let settings = settings(&sources());
    let groups: BTreeSet<&str> = settings.keys().filter_map(|key| key.split('.').next()).collect();
    let number = |text: &str| text.parse::<f64>().map_or(text.to_owned(), |n| n.to_string());
    let (mut compared, mut wrong) = (0, Vec::new());
    for (path, text) in chapters() {
        for line in text.lines() {
            // With its value or without: `gc.window=90%`, `gc.window = 0.9`, `gc.window`.
            let keys = quoted(line).map(|text| text.split('=').next().unwrap_or(text).trim_end());
            for key in keys.filter(|key| !key.contains([' ', '/'])) {
                let of_group = key.split_once('.').is_some_and(|(group, _)| groups.contains(group));
                if of_group && !settings.contains_key(key) {
                    wrong.push(format!("{path}: no setting {key}"));
                }
            }
            let mut cells = quoted(line);
            if let (true, Some(key), Some(printed)) =
                (line.starts_with("| `"), cells.next(), cells.next())
                && let Some(default) = settings.get(key).and_then(Option::as_ref)
            {
                if &number(printed) != default {
                    wrong.push(format!("{path}: {key} is {default}, not {printed}"));
                }
                compared += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "few defaults compared: {compared}");
}
