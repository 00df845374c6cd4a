//! The real file system, with real links.

use openspace_grounding::policy::{DiskPaths, Paths};

/// Links are followed as the kernel does, for what exists and what does not yet.
#[cfg(unix)]
#[test]
fn links_are_followed() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().expect("folder");
    let home = home.path().canonicalize().expect("resolve");
    for folder in ["secret/deep", "work"] {
        std::fs::create_dir_all(home.join(folder)).expect("create");
    }
    symlink("../secret", home.join("work/relative")).expect("link");
    symlink(home.join("secret/deep"), home.join("work/absolute")).expect("link");
    symlink("relative", home.join("work/chain")).expect("link");
    symlink("loop", home.join("work/loop")).expect("link");
    symlink("missing/file", home.join("work/dangling")).expect("link");
    for (path, right) in [
        ("work/new/file", "work/new/file"),
        ("work/relative/new", "secret/new"),
        ("work/absolute/new", "secret/deep/new"),
        ("work/absolute/../x", "secret/x"),
        ("work/chain/./deep", "secret/deep"),
        ("work/dangling", "work/missing/file"),
        ("work/../secret", "secret"),
    ] {
        assert_eq!(
            DiskPaths.resolve(&home.join(path)),
            home.join(right),
            "{path}"
        );
    }
    assert!(
        DiskPaths.exists(&home.join("work/dangling")),
        "a link to nothing is there"
    );
    assert!(
        !DiskPaths.exists(&home.join("work/other")),
        "nothing is not"
    );
    // Ends, wherever it ends.
    let _resolved = DiskPaths.resolve(&home.join("work/loop/x"));
}
