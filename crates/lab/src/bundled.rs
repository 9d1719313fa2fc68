//! Files of settings that are part of the library: one file in a folder of `config`, one name in a
//! table.

/// A file that is part of the library.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Its name, as `--device`, `--workload` and `ftlab reproduce` take it.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
}

macro_rules! bundled {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$( $crate::bundled::Bundled {
            name: $name,
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/config/", $folder, "/", $name, ".toml"
            )),
        }, )*]
    };
}
pub(crate) use bundled;

/// Does this text name a file of settings rather than something bundled?
pub(crate) fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', '\\'])
}

/// Names of the files in a folder of `config`, without their extension.
#[cfg(test)]
pub(crate) fn files_in(folder: &str) -> Vec<String> {
    let folder = format!("{}/config/{folder}", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).unwrap();
    let stem = |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().into();
    let mut names: Vec<String> = entries.map(|entry| stem(entry.unwrap().path())).collect();
    names.sort();
    names
}
