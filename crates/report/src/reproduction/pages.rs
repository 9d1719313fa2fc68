//! All pages of a reproduction.

use super::{Reproduction, index, page};

/// The pages: one for every experiment, one for the worlds of every paper that has any, what they
/// share, and last the index, `report.html`; by the names of their files.
pub fn pages(of: &Reproduction) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
    let worlds = of.worlds.iter().map(|worlds| page::worlds(of, worlds));
    let shared = std::iter::once_with(page::shared);
    let index = std::iter::once_with(|| ("report.html".to_owned(), index::write(of)));
    shared
        .chain((0..of.experiments.len()).map(|at| page::experiment(of, at)))
        .chain(worlds)
        .chain(index)
}
