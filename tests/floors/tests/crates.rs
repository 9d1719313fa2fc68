//! Each crate stands on those that ARCHITECTURE.md puts below it, and on no other.

use std::collections::BTreeSet;
use std::path::Path;

/// A crate's folder, and the crates that it may name. What is not listed here fails.
const FLOORS: &[(&str, &[&str])] = &[
    ("crates/flash", &[]),
    ("crates/ftl", &["flash"]),
    ("crates/schemes", &["flash", "ftl"]),
    ("crates/ssd", &["flash", "ftl"]),
    ("crates/engine", &["flash", "ftl", "schemes", "ssd"]),
    ("crates/trace", &["flash"]),
    ("crates/nbd", &[]),
    ("crates/report", &["engine"]),
    ("crates/lab", &["engine", "trace", "report"]),
    ("crates/drive", &["engine", "trace", "lab", "nbd"]),
    ("crates/cli", &["engine", "trace", "report", "lab", "drive", "nbd"]),
    ("crates/py", &["engine", "trace", "report", "lab"]),
    ("tests/floors", &[]),
    ("tests/fuzzing", &["engine", "lab", "nbd", "trace"]),
];

/// Crates of ours under `[dependencies]` of a manifest.
fn ours(manifest: &str) -> BTreeSet<&str> {
    let section = manifest.split("\n[").find_map(|part| part.strip_prefix("dependencies]"));
    let names = section.unwrap_or("").lines().filter_map(|line| line.strip_prefix("ftlab-"));
    names.filter_map(|rest| rest.split(['.', ' ', '=']).next()).collect()
}

#[test]
fn a_crate_depends_on_lower_floors_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = |path: &str| std::fs::read_to_string(root.join(path)).expect("a manifest");
    let workspace = text("Cargo.toml");
    for (folder, below) in FLOORS {
        assert!(workspace.contains(&format!("\"{folder}\"")), "{folder} is no member any more");
        let manifest = text(&format!("{folder}/Cargo.toml"));
        let allowed: BTreeSet<&str> = below.iter().copied().collect();
        assert_eq!(ours(&manifest), allowed, "{folder}: the crates that it depends on");
    }
    let members = workspace.split("members = [").nth(1).and_then(|rest| rest.split(']').next());
    let count = members.expect("a list of members").matches('"').count() / 2;
    assert_eq!(count, FLOORS.len(), "a crate has no floor");
}

#[test]
fn dependencies_are_read_from_their_section_alone() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\nftlab-flash.workspace = true\n\
                    ftlab-ftl = { path = \"a\" }\nclap = \"4\"\n\n[dev-dependencies]\nftlab-lab = \"1\"\n";
    assert_eq!(ours(manifest), BTreeSet::from(["flash", "ftl"]));
}

/// The Python package's files: its crate has no tests in Rust, which would link it against Python.
#[test]
fn no_circle_of_files_of_the_python_package() {
    let py = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/py");
    ftlab_floors::check(py.to_str().expect("a path in UTF-8"), &[]);
}
