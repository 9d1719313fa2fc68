//! The folder of a reproduction: every run is kept as soon as it is done, so that what was
//! interrupted can go on.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};

const MANIFEST: &str = "manifest.json";
const RUNS: &str = "runs";

/// An open folder.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Begins in a new or empty folder, or with `resume` in one that the same command began.
    pub fn open(path: &Path, manifest: &Value, resume: bool) -> Result<Self> {
        let shown = path.display();
        let cannot = |error: std::io::Error| {
            Error::usage(format!("--out {shown} cannot be written ({error})"))
        };
        let empty = match path.exists() {
            true => fs::read_dir(path).map_err(cannot)?.next().is_none(),
            false => true,
        };
        let folder = Folder { path: path.to_owned() };
        if empty {
            fs::create_dir_all(path.join(RUNS)).map_err(cannot)?;
            folder.write(MANIFEST, &json(manifest)?)?;
            return Ok(folder);
        }
        if !resume {
            return Err(Error::usage(format!(
                "--out {shown} is not empty, and nothing is overwritten; legal: a new or empty \
                 folder, or --resume for one that this command began"
            )));
        }
        let file = path.join(MANIFEST);
        let kept = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match kept {
            Some(kept) if kept == *manifest => Ok(folder),
            Some(kept) => Err(Error::usage(format!(
                "--resume: {} was written by another command ({} differs); legal: the folder of \
                 this command, or a new one",
                file.display(),
                difference(&kept, manifest)
            ))),
            None => Err(Error::usage(format!(
                "--resume: {shown} has no {MANIFEST} that can be read, so no reproduction began \
                 there"
            ))),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was kept of a run.
    pub fn kept(&self, key: &str) -> Option<Vec<u8>> {
        fs::read(self.path_of(key)).ok()
    }

    /// Whether something was kept of a run.
    pub fn keeps(&self, key: &str) -> bool {
        self.path_of(key).exists()
    }

    fn path_of(&self, key: &str) -> PathBuf {
        self.path.join(RUNS).join(format!("{key}.json"))
    }

    /// Keeps a run.
    pub fn keep(&self, key: &str, bytes: &[u8]) -> Result<()> {
        self.write(&format!("{RUNS}/{key}.json"), bytes)
    }

    /// Writes a file, which appears complete or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let target = self.path.join(name);
        let parent = target.parent().unwrap_or(&self.path);
        let cannot = |error: std::io::Error| {
            Error::Run(format!("{} cannot be written ({error})", target.display()))
        };
        fs::create_dir_all(parent).map_err(cannot)?;
        let mut file = tempfile::NamedTempFile::new_in(parent).map_err(cannot)?;
        file.write_all(bytes).map_err(cannot)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(0o644);
            file.as_file().set_permissions(mode).map_err(cannot)?;
        }
        file.persist(&target).map_err(|error| cannot(error.error))?;
        Ok(())
    }
}

/// The first member in which two manifests differ.
fn difference(kept: &Value, own: &Value) -> String {
    let members = own.as_object().into_iter().flatten();
    let other = members.map(|(name, _)| name).find(|name| kept.get(name) != own.get(name));
    other.map_or_else(|| "it".to_owned(), |name| format!("'{name}'"))
}

/// Indented JSON with a line feed at its end.
pub fn json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::Run(format!("no JSON form: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_folder_goes_on_only_with_the_command_that_began_it() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("deep/out");
        let manifest = json!({"version": "1", "quick": true});
        let begun = Folder::open(&out, &manifest, false).unwrap();
        assert_eq!(begun.kept("a"), None);
        begun.keep("a", b"{}").unwrap();
        let refusal = |manifest: &Value, resume| {
            Folder::open(&out, manifest, resume).err().unwrap().to_string()
        };
        assert!(refusal(&manifest, false).contains("--resume"));
        let other = json!({"version": "1", "quick": false});
        assert!(refusal(&other, true).contains("'quick' differs"));
        assert_eq!(Folder::open(&out, &manifest, true).unwrap().kept("a").unwrap(), b"{}");
        fs::remove_file(out.join(MANIFEST)).unwrap();
        assert!(refusal(&manifest, true).contains("no reproduction began"));
    }
}
