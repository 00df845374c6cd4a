//! Changing one setting leaves the rest of the file alone.

use std::{fs, path::PathBuf};

use openspace_config::{SettingsError, SettingsFile};

use crate::settings::{SCHEMA, Values};

struct Home {
    folder: tempfile::TempDir,
    path: PathBuf,
    file: SettingsFile,
}

fn home(content: Option<&str>) -> Home {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("deep/settings.toml");
    if let Some(content) = content {
        fs::create_dir(folder.path().join("deep")).expect("deep");
        fs::write(&path, content).expect("settings");
    }
    Home {
        file: SettingsFile::new(&path, SCHEMA),
        path,
        folder,
    }
}

impl Home {
    fn set(&self, key: &str, text: &str) -> Result<(), SettingsError> {
        self.file.set::<Values>(key, text)
    }

    fn content(&self) -> String {
        fs::read_to_string(&self.path).expect("content")
    }
}

const COMMENTED: &str = "# mine\n\n[model]   # the one I like\nname = 'old' # do not touch\nmax_tokens=  7\n\n  [run]\nbackends = [\n  \"gui\", # eyes\n]\n# end\n";

/// Only the value changes: comments, quotes and spacing of everything else stay.
#[test]
fn a_change_keeps_everything_else() {
    let home = home(Some(COMMENTED));
    home.set("model.name", "new").expect("set");
    assert_eq!(home.content(), COMMENTED.replace("'old'", "\"new\""));
    home.set("run.record", "yes").expect("set");
    let expected = COMMENTED
        .replace("'old'", "\"new\"")
        .replace("]\n# end", "]\nrecord = true\n# end");
    assert_eq!(home.content(), expected);
    assert!(home.file.unset("run.record").expect("unset"));
    assert!(
        !home.file.unset("run.record").expect("unset"),
        "gone already"
    );
    assert_eq!(home.content(), COMMENTED.replace("'old'", "\"new\""));
}

/// Where there is no file, one is made that only this user can read.
#[cfg(unix)]
#[test]
fn a_new_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = home(None);
    home.set("servers.files", "{ command = 'npx' }")
        .expect("set");
    home.set("model.max_tokens", "9").expect("set");
    assert_eq!(
        home.content(),
        "[servers]\nfiles = { command = 'npx' }\n\n[model]\nmax_tokens = 9\n"
    );
    let mode = fs::metadata(&home.path).expect("file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// What a setting cannot be is refused, and so is a file that is no TOML; the file stays as it is.
#[test]
fn a_refused_change_changes_nothing() {
    let home = home(Some(COMMENTED));
    assert!(matches!(
        home.set("model.max_tokens", "many"),
        Err(SettingsError::BadValue { .. })
    ));
    assert!(matches!(
        home.set("model.nmae", "x"),
        Err(SettingsError::UnknownKey { nearest: Some(nearest), .. }) if nearest == "model.name"
    ));
    assert_eq!(home.content(), COMMENTED);

    fs::write(&home.path, "[model\n").expect("broken");
    let error = home.set("model.name", "x").expect_err("broken");
    assert!(matches!(error, SettingsError::Syntax { .. }), "{error}");
    assert_eq!(home.content(), "[model\n");

    fs::write(&home.path, b"name = \"\xff\"").expect("bytes");
    assert!(matches!(
        home.set("model.name", "x"),
        Err(SettingsError::NotText { .. })
    ));
    assert_eq!(fs::read(&home.path).expect("bytes"), b"name = \"\xff\"");

    fs::write(&home.path, "model = 3\n").expect("shape");
    assert!(matches!(
        home.set("model.name", "x"),
        Err(SettingsError::BadValue { key, .. }) if key == "model"
    ));
    assert_eq!(home.content(), "model = 3\n");
}

/// A folder where the file belongs is not replaced.
#[test]
fn a_folder_is_left_alone() {
    let home = home(None);
    fs::create_dir_all(&home.path).expect("folder");
    assert!(matches!(
        home.set("model.name", "x"),
        Err(SettingsError::NotAFile { .. })
    ));
    assert!(home.path.is_dir());
}

/// A mistake elsewhere does not keep one from putting it right.
#[test]
fn a_wrong_file_can_be_put_right() {
    let home = home(Some("colour = 1\n[model]\nmax_tokens = \"x\"\n"));
    home.set("model.max_tokens", "5").expect("set");
    assert!(home.file.unset("colour").expect("unset"));
    assert_eq!(home.content(), "[model]\nmax_tokens = 5\n");
    let error = home.file.unset("color").expect_err("unknown");
    assert!(matches!(error, SettingsError::UnknownKey { .. }), "{error}");
}

/// Windows line ends and the mark in front are kept.
#[test]
fn marks_and_carriage_returns_are_kept() {
    let home = home(Some("\u{feff}# a\r\n[model]\r\nname = \"x\"\r\n"));
    home.set("model.max_tokens", "5").expect("set");
    home.set("run.record", "on").expect("set");
    assert_eq!(
        home.content(),
        "\u{feff}# a\r\n[model]\r\nname = \"x\"\r\nmax_tokens = 5\r\n\r\n[run]\r\nrecord = true\r\n"
    );
}

/// A link into somebody's collection of configurations stays a link.
#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let home = home(None);
    let real = home.folder.path().join("dotfiles.toml");
    fs::write(&real, "# real\n").expect("real");
    fs::create_dir(home.folder.path().join("deep")).expect("deep");
    std::os::unix::fs::symlink(&real, &home.path).expect("link");
    home.set("model.name", "x").expect("set");
    assert!(home.path.is_symlink());
    assert_eq!(
        fs::read_to_string(&real).expect("real"),
        "# real\n[model]\nname = \"x\"\n"
    );
}

/// Several writers at once lose nothing.
#[test]
fn concurrent_changes_all_arrive() {
    let home = home(Some("# shared\n"));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let file = &home.file;
            scope.spawn(move || {
                let key = format!("servers.s{number}");
                file.set::<Values>(&key, "{ command = 'x' }").expect("set");
            });
        }
    });
    let content = home.content();
    for number in 0..8 {
        assert!(
            content.contains(&format!("s{number} = {{ command = 'x' }}")),
            "{content}"
        );
    }
}
