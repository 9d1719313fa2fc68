//! The files of this crate import each other downward only.

#[test]
fn no_circle_of_files() {
    ftlab_floors::check(env!("CARGO_MANIFEST_DIR"), &[]);
}
