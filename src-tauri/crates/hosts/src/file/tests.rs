use std::fs;

use super::{backup::Backups, lock::FolderLock, *};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The mark in front, the mode and the link are as they were.
#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mark_its_mode_and_its_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder();
    let real = folder.path().join("dotfiles.json");
    let link = folder.path().join("settings.json");
    fs::write(&real, "\u{feff}{}").expect("a file");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink("dotfiles.json", &link).expect("a link");
    let contents = Contents::read(&link).expect("readable");
    assert_eq!(contents.text, "{}", "without the mark");
    contents.replace("{\"a\": 1}", true).expect("replaced");
    assert_eq!(
        fs::read(&real).expect("a file"),
        "\u{feff}{\"a\": 1}".as_bytes()
    );
    assert!(link.is_symlink(), "the link is still one");
    let mode = fs::metadata(&real).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let names = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(names, 2, "nothing is left beside them");
}

/// A new file of a person is for nobody else; one of a project is for whoever shares it.
#[cfg(unix)]
#[test]
fn a_new_file_is_private_where_it_should_be() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let mode = |name: &str, private| {
        let path = folder.path().join(name).join("mcp.json");
        let contents = Contents::read(&path).expect("nothing there");
        assert!(!contents.exists());
        contents.replace("{}", private).expect("written");
        let metadata = fs::metadata(&path).expect("a file");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("a", true), 0o600);
    assert_eq!(mode("b", false) & 0o700, 0o600);
}

/// A file that is not what it was is left alone, however it changed.
#[test]
fn a_changed_file_is_left_alone() {
    let folder = folder();
    let path = folder.path().join("a.json");
    fs::write(&path, "one").expect("a file");
    let contents = Contents::read(&path).expect("readable");
    fs::write(&path, "two").expect("changed, of the same length");
    assert!(matches!(
        contents.replace("mine", true),
        Err(Error::Changed { .. })
    ));
    assert!(matches!(contents.remove(), Err(Error::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).expect("a file"), "two");

    let none = Contents::read(&folder.path().join("b.json")).expect("nothing there");
    fs::write(folder.path().join("b.json"), "theirs").expect("a file");
    assert!(matches!(
        none.replace("mine", true),
        Err(Error::Changed { .. })
    ));
}

/// What is no file of text, or not this user's to change, is told apart.
#[cfg(unix)]
#[test]
fn what_cannot_be_changed_is_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("folder")).expect("a folder");
    fs::write(at("bytes"), [0xff, 0xfe, 0x7b]).expect("a file");
    fs::write(at("kept"), "{}").expect("a file");
    fs::set_permissions(at("kept"), fs::Permissions::from_mode(0o400)).expect("a mode");
    symlink("nowhere", at("dangling")).expect("a link");
    let read = |name: &str| Contents::read(&at(name));
    assert!(matches!(read("folder"), Err(Error::NotAFile { .. })));
    assert!(matches!(read("bytes"), Err(Error::NotText { .. })));
    assert!(matches!(read("dangling"), Err(Error::DanglingLink { .. })));
    let kept = read("kept").expect("readable");
    assert!(matches!(
        kept.replace("x", true),
        Err(Error::ReadOnly { .. })
    ));
    assert_eq!(fs::read_to_string(at("kept")).expect("a file"), "{}");
}

/// Five copies are kept, the newest ones, and those of other files are not touched.
#[test]
fn the_newest_five_copies_are_kept() {
    let folder = folder();
    let path = folder.path().join("a.json");
    let other = folder.path().join("a.json.openspace-notes");
    fs::write(&other, "mine").expect("a file");
    let backups = Backups::beside(&path);
    let second =
        |number: i64| jiff::Timestamp::from_second(1_800_000_000 + number).expect("a time");
    for number in 0..7 {
        fs::write(&path, number.to_string()).expect("a file");
        let contents = Contents::read(&path).expect("readable");
        backups
            .keep(&contents, second(number / 2), None)
            .expect("kept");
    }
    let kept: Vec<_> = backups
        .all()
        .iter()
        .map(|path| fs::read_to_string(path).expect("a copy"))
        .collect();
    assert_eq!(
        kept,
        ["2", "3", "4", "5", "6"],
        "oldest first, two within a second in order"
    );
    let name = backups.all()[0]
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    assert_eq!(
        name.as_deref(),
        Some("a.json.openspace-20270115-080001.bak")
    );
    assert!(other.exists());
}

/// Files of the same name in different projects have copies of their own.
#[test]
fn copies_of_projects_do_not_mix() {
    let one = Backups::within(Path::new("/data"), Path::new("/a/.mcp.json"));
    let other = Backups::within(Path::new("/data"), Path::new("/b/.mcp.json"));
    assert_ne!(one, other);
}

/// A lock that somebody holds is waited for, and one that was left behind is taken over.
#[test]
fn the_lock_of_a_host_is_respected() {
    let folder = folder();
    let path = folder.path().join(".claude.json");
    let lock = folder.path().join(".claude.json.lock");
    let held = FolderLock::take(&path).expect("a folder").expect("free");
    assert!(lock.is_dir());
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || FolderLock::take(&path).expect("a folder").is_some()
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(!waiting.is_finished(), "it is waited for");
    drop(held);
    assert!(waiting.join().expect("no panic"));
    assert!(!lock.exists(), "both gave it back");

    fs::create_dir(&lock).expect("left behind");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let times = fs::FileTimes::new().set_modified(long_ago);
    fs::File::open(&lock)
        .and_then(|folder| folder.set_times(times))
        .expect("old");
    assert!(FolderLock::take(&path).expect("a folder").is_some());
}
