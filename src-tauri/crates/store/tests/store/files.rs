//! Frames, artefacts, before-copies and undo.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use openspace_store::{
    ArtefactId, ChangeId, ChangeKind, Error, Fence, FrameId, Left, NewArtefact, NewChange,
    NewFrame, Prune, Pruned, RunStatus,
};
use serde_json::json;

use crate::home::Home;

fn frame(home: &Home, fence: &Fence, data: &[u8]) -> FrameId {
    let new = NewFrame {
        step: 1,
        media_type: "image/jpeg".to_owned(),
        data: Bytes::copy_from_slice(data),
        width: 640,
        height: 400,
        display: ":0".to_owned(),
        geometry: json!({ "scale": 1.5 }),
        hash: "abc".to_owned(),
    };
    home.store.keep_frame(fence, &new).unwrap()
}

fn end(home: &Home, fence: &Fence) {
    home.store
        .call_blocking(|db| db.runs().finish(fence, RunStatus::Done, None, None))
        .unwrap();
}

fn pictures(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for run in fs::read_dir(folder.join("frames")).unwrap() {
        found.extend(
            fs::read_dir(run.unwrap().path())
                .unwrap()
                .map(|entry| entry.unwrap().path()),
        );
    }
    found
}

/// A frame comes back as it was kept.
#[test]
fn frames_come_back() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let id = frame(&home, &fence, b"picture");
    let (row, data) = home.another().read_frame(&id).unwrap();
    assert_eq!(data, b"picture"[..]);
    assert_eq!(
        (row.width, row.height, row.bytes, row.at),
        (640, 400, 7, 1_000)
    );
    assert_eq!(row.geometry, json!({ "scale": 1.5 }));
    let latest = home
        .store
        .read_blocking(|db| db.frames().latest(fence.run()))
        .unwrap();
    assert_eq!(latest.map(|frame| frame.id), Some(id));
    let missing = home.store.read_frame(&FrameId::random());
    assert!(matches!(
        missing,
        Err(Error::NotFound { what: "frame", .. })
    ));
}

/// Old pictures go, pinned ones and those of living runs stay, rows remain.
#[test]
fn old_pictures_are_pruned() {
    let home = Home::new();
    let instance = home.instance();
    let [old, pinned, living] = [(); 3].map(|()| home.claimed(&instance));
    let ids = [&old, &pinned, &living].map(|fence| frame(&home, fence, b"12345"));
    home.store
        .call_blocking(|db| db.runs().set_pinned(pinned.run(), true))
        .unwrap();
    home.time.store(5_000, Ordering::SeqCst);
    let young = frame(&home, &old, b"young");
    end(&home, &old);
    end(&home, &pinned);

    let limits = Prune {
        max_age: 3_999,
        max_bytes: 1_000,
    };
    assert_eq!(
        home.store.prune_frames(&limits).unwrap(),
        Pruned {
            frames: 1,
            bytes: 5
        }
    );

    let gone = home.store.read_frame(&ids[0]);
    assert!(matches!(gone, Err(Error::Pruned { .. })), "{gone:?}");
    for stays in [&ids[1], &ids[2], &young] {
        home.store.read_frame(stays).unwrap();
    }
    let rows = home
        .store
        .read_blocking(|db| db.frames().of_run(old.run()))
        .unwrap();
    assert_eq!(rows.len(), 2, "rows remain");
    assert_eq!(pictures(home.folder()).len(), 3);
    assert_eq!(home.store.prune_frames(&limits).unwrap(), Pruned::default());
}

/// Above the size limit the oldest pictures go first, and only as many as needed.
#[test]
fn too_many_pictures_are_pruned() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let ids: Vec<_> = (0..5)
        .map(|number| {
            home.time.store(1_000 + number, Ordering::SeqCst);
            frame(&home, &fence, &[0; 100])
        })
        .collect();
    end(&home, &fence);
    let limits = Prune {
        max_bytes: 250,
        ..Prune::default()
    };
    assert_eq!(
        home.store.prune_frames(&limits).unwrap(),
        Pruned {
            frames: 3,
            bytes: 300
        }
    );
    let kept: Vec<_> = ids
        .iter()
        .map(|id| home.store.read_frame(id).is_ok())
        .collect();
    assert_eq!(kept, [false, false, false, true, true]);
    assert_eq!(
        home.store
            .read_blocking(|db| db.frames().total_bytes())
            .unwrap(),
        200
    );
}

/// A picture without a row goes once nobody can be about to write its row.
#[test]
fn pictures_without_rows_are_removed() {
    let home = Home::new();
    let folder = home.folder().join("frames/0000000000");
    fs::create_dir(&folder).unwrap();
    let [old, new] = [(); 2].map(|()| folder.join(format!("{}.png", FrameId::random())));
    for path in [&old, &new] {
        fs::write(path, b"lost").unwrap();
    }
    age(&old);
    home.store.prune_frames(&Prune::default()).unwrap();
    assert_eq!(pictures(home.folder()), [new]);
}

/// Makes a file look as old as one that nobody is about to write a row for.
fn age(path: &Path) {
    let two_hours_ago = SystemTime::now() - Duration::from_secs(7_200);
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(two_hours_ago)
        .unwrap();
}

/// A copy of the person's files whose row is gone goes too, whatever kept it from being removed with
/// its run; those with a row, those just written and other people's files stay.
#[test]
fn copies_without_rows_are_removed() {
    let work = Workspace::new();
    let path = work.path("notes.txt");
    fs::write(&path, "old").unwrap();
    let change = work.change(&path, ChangeKind::Modified, Some("new"));
    let new = NewArtefact {
        step: 1,
        name: "out".to_owned(),
        media_type: "text/plain".to_owned(),
        data: Bytes::from_static(b"kept"),
    };
    let artefact = work.home.store.keep_artefact(&work.fence, &new).unwrap();
    let place = |folder: &str, name: &str| work.home.folder().join(folder).join(name);
    let kept = [
        place("changes", change.as_str()),
        place("artefacts", artefact.as_str()),
    ];
    let [copy, fresh] = [(); 2].map(|()| place("changes", ChangeId::random().as_str()));
    let output = place("artefacts", ArtefactId::random().as_str());
    let foreign = place("changes", "notes of mine.txt");
    for path in [&copy, &fresh, &output, &foreign] {
        fs::write(path, b"left").unwrap();
    }
    for path in kept.iter().chain([&copy, &output, &foreign]) {
        age(path);
    }

    work.home.store.prune_frames(&Prune::default()).unwrap();

    for gone in [copy, output] {
        assert!(!gone.exists(), "{}", gone.display());
    }
    for stays in kept.iter().chain([&fresh, &foreign]) {
        assert!(stays.exists(), "{}", stays.display());
    }
    work.undo(&change).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

/// An artefact is read in parts and keeps its name and hash.
#[test]
fn artefacts_are_read_in_parts() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let new = NewArtefact {
        step: 4,
        name: "../../output of make.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        data: Bytes::from_static(b"0123456789"),
    };
    let id = home.store.keep_artefact(&fence, &new).unwrap();
    let read = |offset, length| home.store.read_artefact(&id, offset, length).unwrap();
    assert_eq!(read(0, u64::MAX), b"0123456789"[..]);
    assert_eq!(read(3, 4), b"3456"[..]);
    assert_eq!(read(8, 100), b"89"[..]);
    assert_eq!(read(50, 1), b""[..]);
    let (row, path) = home.store.artefact(&id).unwrap();
    assert_eq!(row.name, "../../output of make.txt");
    assert_eq!(row.hash, blake3::hash(b"0123456789").to_hex().as_str());
    assert!(
        path.starts_with(home.folder().join("artefacts")),
        "a name is never a path"
    );
    assert_eq!(
        home.store
            .read_blocking(|db| db.artefacts().of_run(fence.run()))
            .unwrap(),
        [row]
    );
}

/// A workspace whose files a run changes.
struct Workspace {
    home: Home,
    fence: Fence,
    folder: tempfile::TempDir,
    _instance: openspace_store::Instance,
}

impl Workspace {
    fn new() -> Self {
        let home = Home::new();
        let instance = home.instance();
        let fence = home.claimed(&instance);
        Self {
            home,
            fence,
            folder: tempfile::tempdir().unwrap(),
            _instance: instance,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A change as a tool makes it: keep, act, note.
    fn change(&self, path: &Path, kind: ChangeKind, after: Option<&str>) -> ChangeId {
        let before = fs::read(path).ok().map(Bytes::from);
        let new = NewChange {
            step: 1,
            path: path.to_owned(),
            kind,
            before,
        };
        let id = self.home.store.keep_change(&self.fence, &new).unwrap();
        match after {
            Some(text) => fs::write(path, text).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
        self.home.store.note_left(&self.fence, &id).unwrap();
        id
    }

    fn undo(&self, id: &ChangeId) -> openspace_store::Result<()> {
        self.home.store.undo(id)
    }
}

/// A modified file gets its content and its permissions back, and undoing twice changes nothing.
#[test]
fn a_modified_file_is_restored() {
    let work = Workspace::new();
    let path = work.path("notes.sh");
    fs::write(&path, "old").unwrap();
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o754)).unwrap();
    let id = work.change(&path, ChangeKind::Modified, Some("new"));
    assert_eq!(
        work.home.store.read_before(&id).unwrap().unwrap(),
        b"old"[..]
    );

    work.undo(&id).unwrap();

    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o754
        );
    }
    assert_eq!(
        fs::read_dir(work.folder.path()).unwrap().count(),
        1,
        "nothing is left beside it"
    );
    fs::write(&path, "later").unwrap();
    work.undo(&id).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "later",
        "undone once is undone"
    );
    let row = work
        .home
        .store
        .read_blocking(|db| db.changes().get(&id))
        .unwrap();
    assert_eq!(row.undone_at, Some(1_000));
}

/// A created file goes and a deleted one comes back, even when its folder went too.
#[test]
fn created_and_deleted_files() {
    let work = Workspace::new();
    let created = work.path("new.txt");
    let made = work.change(&created, ChangeKind::Created, Some("fresh"));
    let folder = work.path("folder");
    fs::create_dir(&folder).unwrap();
    let deleted = folder.join("old.txt");
    fs::write(&deleted, "keep me").unwrap();
    let removed = work.change(&deleted, ChangeKind::Deleted, None);
    fs::remove_dir(&folder).unwrap();
    let row = work
        .home
        .store
        .read_blocking(|db| db.changes().get(&removed))
        .unwrap();
    assert_eq!(row.left, Some(Left::Absent));

    work.undo(&made).unwrap();
    work.undo(&removed).unwrap();

    assert!(!created.exists());
    assert_eq!(fs::read_to_string(&deleted).unwrap(), "keep me");
}

/// What a person changed after the run is never overwritten.
#[test]
fn later_work_is_never_destroyed() {
    let work = Workspace::new();
    let modified = work.path("a");
    fs::write(&modified, "old").unwrap();
    let first = work.change(&modified, ChangeKind::Modified, Some("run"));
    let second = work.change(&modified, ChangeKind::Modified, Some("run again"));
    let created = work.path("b");
    let third = work.change(&created, ChangeKind::Created, Some("run"));
    let linked = work.path("c");
    fs::write(&linked, "old").unwrap();
    let fourth = work.change(&linked, ChangeKind::Modified, Some("run"));

    let refused = work.undo(&first);
    assert!(
        matches!(refused, Err(Error::ChangedSince { .. })),
        "the later change goes first"
    );
    fs::write(&created, "mine").unwrap();
    assert!(matches!(work.undo(&third), Err(Error::ChangedSince { .. })));
    assert_eq!(fs::read_to_string(&created).unwrap(), "mine");
    #[cfg(unix)]
    {
        fs::rename(&linked, work.path("d")).unwrap();
        std::os::unix::fs::symlink(work.path("d"), &linked).unwrap();
        let refused = work.undo(&fourth);
        assert!(
            matches!(refused, Err(Error::ChangedSince { .. })),
            "a link is not that file"
        );
        assert_eq!(fs::read_to_string(work.path("d")).unwrap(), "run");
    }

    let changes = work
        .home
        .store
        .read_blocking(|db| db.changes().of_run(work.fence.run()));
    let order: Vec<_> = changes
        .unwrap()
        .into_iter()
        .map(|change| change.id)
        .collect();
    assert_eq!(order, [first.clone(), second.clone(), third, fourth]);
    work.undo(&second).unwrap();
    work.undo(&first).unwrap();
    assert_eq!(
        fs::read_to_string(&modified).unwrap(),
        "old",
        "backwards through a run it works"
    );
}

/// Without a before-copy there is nothing to bring back, and an unfinished change is left alone.
#[test]
fn undo_without_enough_knowledge() {
    let work = Workspace::new();
    let path = work.path("big.bin");
    fs::write(&path, "huge").unwrap();
    let keep = |before: Option<Bytes>| {
        let new = NewChange {
            step: 1,
            path: path.clone(),
            kind: ChangeKind::Modified,
            before,
        };
        work.home.store.keep_change(&work.fence, &new).unwrap()
    };
    let without = keep(None);
    assert!(matches!(
        work.undo(&without),
        Err(Error::NothingKept { .. })
    ));
    let never_happened = keep(Some(Bytes::from_static(b"huge")));
    work.undo(&never_happened).unwrap();
    let unfinished = keep(Some(Bytes::from_static(b"huge")));
    fs::write(&path, "hu").unwrap();
    assert!(matches!(
        work.undo(&unfinished),
        Err(Error::ChangedSince { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "hu");
}
