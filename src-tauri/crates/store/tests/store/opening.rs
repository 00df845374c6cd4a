//! Folders and databases as they are found.

use std::{fs, path::Path, process::Command};

use openspace_store::{Error, NewArtefact, NewChange, Store};
use rusqlite::Connection;

use crate::home::{Home, event};

fn database(folder: &Path) -> std::path::PathBuf {
    folder.join("openspace.db")
}

fn execute(folder: &Path, sql: &str) {
    Connection::open(database(folder))
        .unwrap()
        .execute_batch(sql)
        .unwrap();
}

/// Only the owner can read what is stored.
#[cfg(unix)]
#[test]
fn the_folder_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("deep/data");
    let store = Store::open(&folder).unwrap();
    store
        .call_blocking(|db| db.events().append(event("a", 1)))
        .unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for name in ["frames", "artefacts", "changes", "instances", "staging"] {
        assert_eq!(mode(&folder.join(name)), 0o700, "{name}");
    }
    for name in ["openspace.db", "openspace.db-wal", "openspace.db-shm"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
}

/// What was written is there after all handles were closed.
#[test]
fn a_store_is_opened_again() {
    let home = Home::new();
    let run = home.enqueue();
    drop(home.store.clone());
    let again = home.another();
    assert_eq!(
        again.read_blocking(|db| db.runs().get(&run)).unwrap().id,
        run
    );
}

/// Several openers of a new folder all succeed.
#[test]
fn a_new_folder_is_opened_by_many() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let store = Store::open(folder.path()).unwrap();
                store
                    .call_blocking(|db| db.events().append(event("a", 1)))
                    .unwrap();
            });
        }
    });
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.read_blocking(|db| db.events().last_id()).unwrap(), 6);
}

/// A database that a newer program made incompatible is refused, and not one byte of it changes.
#[test]
fn a_newer_database_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    execute(
        folder.path(),
        "UPDATE openspace_schema SET schema = 900, min_compatible = 800",
    );
    let before = fs::read(database(folder.path())).unwrap();

    let error = Store::open(folder.path())
        .err()
        .expect("it must be refused");

    assert!(
        matches!(
            error,
            Error::TooNew {
                schema: 900,
                min_compatible: 800,
                ours: 5,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.to_string().contains("update this program"), "{error}");
    assert_eq!(
        fs::read(database(folder.path())).unwrap(),
        before,
        "untouched"
    );
}

/// A database of the first schema gains what came later and keeps what it has.
#[test]
fn a_database_of_the_first_schema_is_brought_up() {
    let folder = tempfile::tempdir().unwrap();
    execute(
        folder.path(),
        include_str!("../../src/migrations/0001_first_tables.sql"),
    );
    execute(
        folder.path(),
        "CREATE TABLE openspace_schema (
           only           INTEGER PRIMARY KEY CHECK (only = 1),
           schema         INTEGER NOT NULL,
           min_compatible INTEGER NOT NULL
         ) STRICT;
         INSERT INTO openspace_schema VALUES (1, 1, 1);
         INSERT INTO sessions VALUES ('0123456789', 'Old', 'cli', '{}', 5, 5);
         PRAGMA foreign_keys = OFF;
         INSERT INTO approvals VALUES
           ('9876543210', 1, '0011223344', 2, 'c', '{}', 'low', 0, 'open', NULL, NULL, 7, NULL);",
    );

    let store = Store::open(folder.path()).unwrap();

    let session = store
        .read_blocking(|db| db.sessions().find("0123456789"))
        .unwrap();
    assert_eq!(session.title, "Old");
    let asked = store
        .read_blocking(|db| db.approvals().find("9876543210"))
        .unwrap();
    assert_eq!(
        (asked.step, asked.editable, asked.edited),
        (2, false, None),
        "whoever asked that runs no other command"
    );
    let value = serde_json::json!({ "text": "draft" });
    store
        .call_blocking(|db| db.ui_state().set("draft", Some(&value)))
        .unwrap();
    let kept = store
        .read_blocking(|db| db.ui_state().get("draft"))
        .unwrap();
    assert_eq!(kept, Some(value));
}

/// A newer database that only has more in it is used as it is.
#[test]
fn a_newer_compatible_database_is_used() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    execute(
        folder.path(),
        "UPDATE openspace_schema SET schema = 900; ALTER TABLE runs ADD COLUMN mood TEXT",
    );
    let store = Store::open(folder.path()).unwrap();
    store
        .call_blocking(|db| db.events().append(event("a", 1)))
        .unwrap();
    drop(store);
    let schema: i64 = Connection::open(database(folder.path()))
        .unwrap()
        .query_row("SELECT schema FROM openspace_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(schema, 900, "its version stays");
}

/// A file that is no database, and a database of another program, are refused and left alone.
#[test]
fn foreign_files_are_refused_untouched() {
    for text in ["not a database, but longer than sixteen bytes", "x"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(database(folder.path()), text).unwrap();
        let error = Store::open(folder.path()).err().unwrap();
        assert!(matches!(error, Error::NotADatabase { .. }), "{error:?}");
        assert_eq!(fs::read_to_string(database(folder.path())).unwrap(), text);
    }
    let folder = tempfile::tempdir().unwrap();
    execute(folder.path(), "CREATE TABLE bookmarks (url TEXT)");
    let before = fs::read(database(folder.path())).unwrap();
    let error = Store::open(folder.path()).err().unwrap();
    assert!(matches!(error, Error::NotADatabase { .. }), "{error:?}");
    assert_eq!(fs::read(database(folder.path())).unwrap(), before);
}

/// A database whose pages were overwritten is said to be damaged.
#[test]
fn a_damaged_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let mut bytes = fs::read(database(folder.path())).unwrap();
    bytes[100..].fill(0xA5);
    fs::write(database(folder.path()), bytes).unwrap();
    let error = Store::open(folder.path()).err().unwrap();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
}

/// A folder that cannot be one is named in the error.
#[test]
fn an_impossible_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("data")).err().unwrap();
    assert!(matches!(error, Error::File { .. }), "{error:?}");
    assert!(error.to_string().contains("file/data"), "{error}");
}

/// Files that a killed process left between staging and row are completed, or their rows go.
#[test]
fn pending_files_are_completed_or_rolled_back() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let keep = |text: &'static str| {
        let new = NewArtefact {
            step: 1,
            name: "a".to_owned(),
            media_type: "text/plain".to_owned(),
            data: text.as_bytes().into(),
        };
        home.store.keep_artefact(&fence, &new).unwrap()
    };
    let [staged, placed, lost] = [keep("staged"), keep("placed"), keep("lost")];
    let change = NewChange {
        step: 1,
        path: home.folder().join("x"),
        kind: openspace_store::ChangeKind::Modified,
        before: Some(b"before"[..].into()),
    };
    let change = home.store.keep_change(&fence, &change).unwrap();
    // As if the process had been killed at the three possible moments.
    execute(
        home.folder(),
        "UPDATE artefacts SET state = 'pending'; UPDATE changes SET state = 'pending'",
    );
    let at = |folder: &str, name: String| home.folder().join(folder).join(name);
    fs::rename(
        at("artefacts", staged.to_string()),
        at("staging", format!("artefacts-{staged}")),
    )
    .unwrap();
    fs::rename(
        at("changes", change.to_string()),
        at("staging", format!("changes-{change}")),
    )
    .unwrap();
    fs::remove_file(at("artefacts", lost.to_string())).unwrap();
    assert!(matches!(
        home.store.artefact(&staged),
        Err(Error::NotFound { .. })
    ));

    let store = home.another();

    assert_eq!(store.read_artefact(&staged, 0, 100).unwrap(), b"staged"[..]);
    assert_eq!(store.read_artefact(&placed, 0, 100).unwrap(), b"placed"[..]);
    assert!(matches!(store.artefact(&lost), Err(Error::NotFound { .. })));
    assert_eq!(store.read_before(&change).unwrap().unwrap(), b"before"[..]);
    assert_eq!(
        fs::read_dir(home.folder().join("staging")).unwrap().count(),
        0
    );
}

/// A small volume, unmounted when it is dropped.
struct Volume(tempfile::TempDir);

impl Volume {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(folder)),
            _ => None,
        }
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _done = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// On a full disk writes fail with words, what was stored stays, and space makes it work again.
#[test]
fn a_full_disk_is_survived() {
    let Some(volume) = Volume::mount("2m") else {
        println!("skipped: mounting a small volume is not permitted here");
        return;
    };
    let folder = volume.0.path().join("data");
    let store = Store::open(&folder).unwrap();
    let mut written = 0;
    let error = loop {
        match store.call_blocking(|db| {
            let mut new = event("a", written);
            new.payload = serde_json::json!("x".repeat(20_000));
            db.events().append(new)
        }) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1_000, "the disk must fill up");
    };
    assert!(matches!(error, Error::DiskFull), "{error:?}");
    assert!(error.to_string().contains("free some space"), "{error}");
    let events = store
        .read_blocking(|db| db.events().after(0, 1_000))
        .unwrap();
    assert_eq!(events.len(), written, "what was stored stays");

    let grown = Command::new("mount")
        .args(["-o", "remount,size=8m"])
        .arg(volume.0.path())
        .status()
        .unwrap();
    assert!(grown.success());
    let next = store
        .call_blocking(|db| db.events().append(event("a", 0)))
        .unwrap();
    assert_eq!(next.seq, written as i64 + 1, "and goes on without a gap");
}

/// A disk without room for a database is named as such.
#[test]
fn a_disk_full_from_the_start() {
    let Some(volume) = Volume::mount("64k") else {
        println!("skipped: mounting a small volume is not permitted here");
        return;
    };
    let error = Store::open(&volume.0.path().join("data")).err().unwrap();
    assert!(matches!(error, Error::DiskFull), "{error:?}");
}
