//! A path of our program that is still there after the next start and the next update.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use crate::{
    Error, Machine,
    machine::{Platform, is_program},
};

/// The program a host is to start, and where it is taken from if that place does not last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The path for the entry.
    pub path: PathBuf,
    /// The program to be copied there.
    source: Option<PathBuf>,
}

impl Launcher {
    /// The path for entries, when `program` is what runs now and `data` our folder.
    pub(crate) fn of(machine: &Machine, program: &Path, data: &Path) -> Self {
        if let Some(path) = on_search_path(machine, program) {
            return Self { path, source: None };
        }
        if lasts(machine, program) {
            return Self {
                path: program.to_owned(),
                source: None,
            };
        }
        Self {
            path: copy_path(machine, data),
            source: Some(program.to_owned()),
        }
    }

    /// It is a copy of ours, which has to be made and kept up to date.
    pub fn is_copy(&self) -> bool {
        self.source.is_some()
    }

    /// Makes the copy if there is none of this very program. Whether anything was done.
    pub(crate) fn make(&self) -> Result<bool, Error> {
        let Some(source) = &self.source else {
            return Ok(false);
        };
        let failed = |error| Error::NoLauncher {
            from: source.clone(),
            to: self.path.clone(),
            source: error,
        };
        if is_same(source, &self.path) {
            return Ok(false);
        }
        copy(source, &self.path).map_err(failed)?;
        Ok(true)
    }

    /// The copy is there and is this very program; true for what is no copy.
    pub(crate) fn is_current(&self) -> bool {
        self.source
            .as_ref()
            .is_none_or(|source| is_same(source, &self.path))
    }
}

/// Where our copy lies.
pub(crate) fn copy_path(machine: &Machine, data: &Path) -> PathBuf {
    data.join("bin").join(match machine.platform {
        Platform::Windows => "openspace.exe",
        Platform::Linux | Platform::MacOs => "openspace",
    })
}

/// A link on the search path that leads to the program: package managers change where it leads with
/// each version, and the link itself stays.
fn on_search_path(machine: &Machine, program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let found = machine.find_program("openspace")?;
    let leads_here = found.is_symlink() && found.canonicalize().is_ok_and(|other| other == real);
    (leads_here && lasts(machine, &found)).then_some(found)
}

/// The program stays where it is: not in a mount or folder that goes with this start, nor where it
/// was just built.
pub(crate) fn lasts(machine: &Machine, program: &Path) -> bool {
    let named = |component: &Component<'_>| {
        let name = component.as_os_str().to_string_lossy();
        // AppImages are mounted, downloaded apps of macOS run from a place of their own.
        name.starts_with(".mount_") || name == "AppTranslocation"
    };
    if program.components().any(|component| named(&component)) {
        return false;
    }
    if let Some(mount) = machine.variable("APPDIR")
        && machine.environment.has("APPIMAGE")
        && program.starts_with(mount)
    {
        return false;
    }
    let temporary = ["TMPDIR", "TEMP", "TMP"]
        .iter()
        .filter_map(|name| machine.variable(name));
    let fixed = match machine.platform {
        Platform::Linux => &["/tmp", "/var/tmp", "/dev/shm", "/run"] as &[&str],
        // An opened disk image, before the app was moved to where it belongs.
        Platform::MacOs => &["/tmp", "/private/tmp", "/private/var/folders", "/Volumes"],
        Platform::Windows => &[],
    };
    let mut folders = temporary.chain(fixed.iter().map(PathBuf::from));
    if folders.any(|folder| program.starts_with(folder)) {
        return false;
    }
    !is_in_cache(program)
}

/// The program lies in what cargo builds into, or in a folder marked as a cache. Cargo marks only
/// folders that it made itself, so what it leaves in others counts too.
fn is_in_cache(program: &Path) -> bool {
    const MARKS: [&str; 3] = ["CACHEDIR.TAG", ".rustc_info.json", ".cargo-lock"];
    let is_marked = |folder: &Path| MARKS.iter().any(|mark| folder.join(mark).is_file());
    program.ancestors().skip(1).any(is_marked)
}

fn is_same(left: &Path, right: &Path) -> bool {
    let sizes = (fs::metadata(left), fs::metadata(right));
    let (Ok(one), Ok(other)) = sizes else {
        return false;
    };
    if one.len() != other.len() || !is_program(right) {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if (one.dev(), one.ino()) == (other.dev(), other.ino()) {
            return true;
        }
    }
    let hash = |path: &Path| -> io::Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut fs::File::open(path)?, &mut hasher)?;
        Ok(hasher.finalize())
    };
    matches!((hash(left), hash(right)), (Ok(one), Ok(other)) if one == other)
}

fn copy(source: &Path, target: &Path) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    openspace_config::paths::create_private(folder)?;
    let staged = tempfile::Builder::new()
        .prefix(".openspace-")
        .tempdir_in(folder)?;
    let new = staged.path().join("openspace");
    // A second name costs nothing; another disk needs a copy.
    if fs::hard_link(source, &new).is_err() {
        fs::copy(source, &new)?;
    }
    match fs::rename(&new, target) {
        // Windows replaces no program that runs, but lets it be moved away.
        Err(_) if cfg!(windows) && target.exists() => {
            let old = target.with_extension("old.exe");
            let _left_from_before = fs::remove_file(&old);
            fs::rename(target, &old)?;
            fs::rename(&new, target)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(platform: Platform, variables: &[(&str, &str)]) -> Machine {
        Machine {
            platform,
            home: PathBuf::from("/home/ann"),
            environment: variables.iter().copied().collect(),
        }
    }

    /// Mounts, places of one start and temporary folders go away; where programs are installed stays.
    #[test]
    fn places_that_go_away_are_known() {
        use Platform::{Linux, MacOs, Windows};
        let lasts =
            |platform, variables, path: &str| lasts(&machine(platform, variables), Path::new(path));
        for path in [
            "/usr/bin/openspace",
            "/home/ann/.local/bin/openspace",
            "/opt/OpenSpace/openspace",
        ] {
            assert!(lasts(Linux, &[], path), "{path}");
        }
        assert!(!lasts(
            Linux,
            &[],
            "/tmp/.mount_OpenSpAbC/usr/bin/openspace"
        ));
        assert!(!lasts(Linux, &[], "/home/ann/.mount_x/usr/bin/openspace"));
        assert!(!lasts(Linux, &[], "/tmp/unpacked/openspace"));
        let image = [("APPIMAGE", "/home/ann/O.AppImage"), ("APPDIR", "/mnt/x")];
        assert!(!lasts(Linux, &image, "/mnt/x/usr/bin/openspace"));
        assert!(
            lasts(Linux, &image, "/usr/bin/openspace"),
            "another program"
        );
        let moved = "/private/var/folders/ab/T/AppTranslocation/1-2/d/OpenSpace.app/Contents/MacOS/openspace";
        assert!(!lasts(MacOs, &[], moved));
        assert!(!lasts(
            MacOs,
            &[],
            "/Volumes/OpenSpace/OpenSpace.app/Contents/MacOS/openspace"
        ));
        assert!(lasts(
            MacOs,
            &[],
            "/Applications/OpenSpace.app/Contents/MacOS/openspace"
        ));
        assert!(!lasts(
            Windows,
            &[("TEMP", "/users/ann/temp")],
            "/users/ann/temp/x/openspace.exe"
        ));
    }

    /// What was just built is known by what cargo leaves beside it, whoever made the folder.
    #[test]
    fn build_folders_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("target/debug/openspace");
        fs::create_dir_all(folder.path().join("target/debug")).expect("folders");
        assert!(!is_in_cache(&program));
        for mark in [
            "target/CACHEDIR.TAG",
            "target/.rustc_info.json",
            "target/debug/.cargo-lock",
        ] {
            let mark = folder.path().join(mark);
            fs::write(&mark, "").expect("a mark");
            assert!(is_in_cache(&program), "{}", mark.display());
            fs::remove_file(&mark).expect("taken away");
        }
    }

    /// A copy is made once, and again when the program has changed.
    #[test]
    fn a_copy_is_made_and_kept_current() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("build/openspace");
        fs::create_dir(folder.path().join("build")).expect("a folder");
        fs::write(&program, "#!/bin/sh\nexit 0\n").expect("a program");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        let launcher = Launcher::of(
            &machine(
                Platform::here(),
                &[("TMPDIR", folder.path().to_str().expect("text"))],
            ),
            &program,
            &folder.path().join("data"),
        );
        assert!(launcher.is_copy() && !launcher.is_current());
        assert!(launcher.make().expect("copied") && launcher.is_current());
        assert!(!launcher.make().expect("nothing to do"));
        fs::remove_file(&program).expect("gone");
        assert!(is_program(&launcher.path), "it does without the first one");
        fs::write(&program, "#!/bin/sh\nexit 1\n").expect("a new build");
        assert!(!launcher.is_current());
        assert!(launcher.make().expect("copied"));
        assert_eq!(
            fs::read(&launcher.path).expect("a copy"),
            b"#!/bin/sh\nexit 1\n"
        );
    }

    /// Package managers keep each version in a folder of its own and change a link.
    #[cfg(unix)]
    #[test]
    fn a_link_on_the_search_path_is_preferred() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::Builder::new()
            .prefix("hosts-")
            .tempdir_in(env!("CARGO_MANIFEST_DIR"))
            .expect("a folder beside the sources");
        // A checkout that is temporary itself has no folder that lasts.
        if folder.path().starts_with("/tmp") || folder.path().starts_with("/var/tmp") {
            return;
        }
        let cellar = folder.path().join("Cellar/openspace/1.0/bin/openspace");
        fs::create_dir_all(cellar.parent().expect("a folder")).expect("folders");
        fs::write(&cellar, "x").expect("a program");
        fs::set_permissions(&cellar, fs::Permissions::from_mode(0o755)).expect("a mode");
        let link = folder.path().join("openspace");
        std::os::unix::fs::symlink(&cellar, &link).expect("a link");
        let path = folder.path().to_str().expect("text");
        let launcher = Launcher::of(
            &machine(Platform::Linux, &[("PATH", path)]),
            &cellar,
            Path::new("/data"),
        );
        assert_eq!((launcher.path.clone(), launcher.is_copy()), (link, false));
    }
}
