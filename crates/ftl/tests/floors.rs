//! The files of this crate import each other downward only, but for those that tell one noun
//! together.

/// Their folders hold methods of the type that they declare.
const NOUNS: &[&str] = &["parts/merge_engine.rs", "parts/owned_logs.rs", "parts/page_space.rs"];

#[test]
fn no_circle_of_files() {
    ftlab_floors::check(env!("CARGO_MANIFEST_DIR"), NOUNS);
}
