use std::os::unix::fs::symlink;

use serde_json::json;

use crate::world::World;

/// Matches come with file and line; ignored, hidden and binary files are skipped.
#[tokio::test]
async fn text_is_found() {
    let world = World::new();
    world.write("work/a.rs", "fn one() {}\nfn Two() {}\n");
    world.write("work/sub/b.txt", "fn three\n");
    world.write("work/.gitignore", "out/\n");
    world.write("work/out/c.rs", "fn ignored\n");
    world.write("work/binary", b"fn \0 binary");
    let all = world.text("search", json!({"pattern": r"fn \w+"})).await;
    assert_eq!(
        all,
        "a.rs:1:fn one() {}\na.rs:2:fn Two() {}\nsub/b.txt:1:fn three\n[3 matches in 2 files]"
    );
    let some = world
        .text("search", json!({"pattern": "two", "glob": "*.rs"}))
        .await;
    assert_eq!(some, "a.rs:2:fn Two() {}\n[1 matches in 1 files]");
    let none = world
        .text("search", json!({"pattern": "two", "case": "sensitive"}))
        .await;
    assert_eq!(none, "no matches");
    let bad = world.text("search", json!({"pattern": "("})).await;
    assert!(bad.contains("invalid arguments: pattern"), "{bad}");
}

/// What is protected stays unseen, also below a folder that may be searched.
#[tokio::test]
async fn protected_folders_are_left_out() {
    let world = World::new();
    world.write("home/notes", "SECRET recipe\n");
    symlink(world.path("home/.ssh/id"), world.path("home/link")).expect("link");
    let found = world
        .text("search", json!({"pattern": "SECRET", "path": "~"}))
        .await;
    assert!(
        found.contains("notes:1:SECRET recipe") && found.contains("[1 matches"),
        "{found}"
    );
    let listed = world
        .text("list_dir", json!({"path": "~", "depth": 3}))
        .await;
    let target = world.path("home/.ssh/id").display().to_string();
    assert_eq!(
        listed,
        format!("link -> {target}\nnotes  14\n"),
        "the folder is left out"
    );
}

/// Too many matches are cut with advice.
#[tokio::test]
async fn many_matches_are_cut() {
    let world = World::new();
    world.write("work/many", "x\n".repeat(1000));
    let found = world.text("search", json!({"pattern": "x"})).await;
    assert!(
        found.ends_with(
            "[200 matches in 1 files; there are more: narrow the pattern, the path or the glob]"
        ),
        "{found}"
    );
}

/// Folders are listed with kinds and sizes.
#[tokio::test]
async fn folders_are_listed() {
    let world = World::new();
    world.write("work/file", "12345");
    world.write("work/sub/deep/inner", "");
    symlink("file", world.path("work/link")).expect("link");
    let listed = world.text("list_dir", json!({})).await;
    assert_eq!(listed, "file  5\nlink -> file\nsub/\n");
    let listed = world.text("list_dir", json!({"depth": 3})).await;
    assert_eq!(
        listed,
        "file  5\nlink -> file\nsub/\nsub/deep/\nsub/deep/inner  0\n"
    );
    let missing = world.text("list_dir", json!({"path": "nowhere"})).await;
    assert!(missing.starts_with("not found"), "{missing}");
}
