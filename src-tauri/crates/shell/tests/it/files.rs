use std::os::unix::fs::{PermissionsExt, symlink};

use openspace_grounding::{Action, Block, ChangeKind, Evidence, MediaType, ToolError};
use serde_json::json;

use crate::world::{World, text};

/// Lines are numbered and come in parts.
#[tokio::test]
async fn files_are_read_by_lines() {
    let world = World::new();
    world.write("work/file", "one\r\ntwo\nthree");
    let shown = world.text("read_file", json!({"path": "file"})).await;
    assert_eq!(shown, "     1\tone\n     2\ttwo\n     3\tthree\n");
    let shown = world
        .text(
            "read_file",
            json!({"path": "./file", "offset": 2, "limit": 1}),
        )
        .await;
    assert_eq!(
        shown,
        "     2\ttwo\n[… more lines follow; continue with offset 3]"
    );
    let shown = world
        .text("read_file", json!({"path": "file", "offset": 9}))
        .await;
    assert_eq!(shown, "`file` has only 3 lines");
}

/// What is no text is named, not shown; UTF-16 is converted.
#[tokio::test]
async fn other_encodings_are_told() {
    let world = World::new();
    world.write("work/binary", b"\x7fELF\0\0");
    assert!(
        world
            .text("read_file", json!({"path": "binary"}))
            .await
            .contains("binary file of 6 bytes")
    );
    world.write("work/wide", b"\xff\xfeh\0i\0");
    assert_eq!(
        world.text("read_file", json!({"path": "wide"})).await,
        "     1\thi\n"
    );
    world.write("work/latin", b"caf\xe9\n");
    assert_eq!(
        world.text("read_file", json!({"path": "latin"})).await,
        "     1\tcaf\u{fffd}\n"
    );
    world.write("work/empty", b"");
    assert_eq!(
        world.text("read_file", json!({"path": "empty"})).await,
        "`empty` is empty"
    );
    world.write("work/long", "x".repeat(3_000_000));
    let shown = world.text("read_file", json!({"path": "long"})).await;
    assert!(
        shown.len() < 4096 && shown.contains("line cut"),
        "{} bytes",
        shown.len()
    );
}

/// A picture comes as a picture.
#[tokio::test]
async fn pictures_are_shown() {
    let world = World::new();
    let mut png = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(4, 3)
        .write_to(&mut png, image::ImageFormat::Png)
        .expect("encode");
    let png = png.into_inner();
    // The beginning with the size is right, the pixels are cut off.
    world.write("work/damaged", &png[..png.len() - 20]);
    world.write("work/picture", png);
    let output = world
        .call("read_file", json!({"path": "picture"}))
        .await
        .expect("read");
    let Some(Block::Image { image, .. }) = output.blocks.get(1) else {
        panic!("{:?}", output.blocks)
    };
    assert_eq!(
        (image.media_type, image.width, image.height),
        (MediaType::Png, 4, 3)
    );
    assert!(
        world
            .text("read_file", json!({"path": "damaged"}))
            .await
            .contains("damaged picture")
    );
    world.write("work/gif", b"GIF89a\x01\0\x01\0\0\0\0;");
    assert!(
        world
            .text("read_file", json!({"path": "gif"}))
            .await
            .contains("neither PNG nor JPEG")
    );
}

/// A pipe in the workspace cannot hold a call for ever.
#[tokio::test]
async fn pipes_are_not_read() {
    let world = World::new();
    world
        .text("run_command", json!({"command": "mkfifo pipe"}))
        .await;
    assert!(
        world
            .text("read_file", json!({"path": "pipe"}))
            .await
            .contains("no regular file")
    );
}

/// A path is judged by where it leads: through links, `..` and `~`.
#[tokio::test]
async fn paths_are_resolved() {
    let world = World::new();
    symlink(world.path("home"), world.path("work/link")).expect("link");
    symlink(world.path("home/new"), world.path("work/dangling")).expect("link");
    symlink("loop", world.path("work/loop")).expect("link");
    world.write("work/sub/file", "");
    for (text, leads_to) in [
        ("link/.ssh/id", "home/.ssh/id"),
        ("~/.ssh/id", "home/.ssh/id"),
        ("sub/../link/../work/sub/file", "work/sub/file"),
        ("dangling", "home/new"),
        ("not/../there", "work/there"),
        ("../home", "home"),
    ] {
        let actions = world
            .actions("read_file", json!({"path": text}))
            .await
            .expect("resolved");
        assert_eq!(
            actions,
            [Action::Read {
                path: world.path(leads_to)
            }],
            "{text}"
        );
    }
    for text in ["", "a\u{0}b", "~somebody/x", "loop"] {
        let result = world.actions("read_file", json!({"path": text})).await;
        assert!(
            matches!(result, Err(ToolError::InvalidArguments(_))),
            "`{text}`: {result:?}"
        );
    }
}

/// A link turned elsewhere after the judgement is judged again.
#[tokio::test]
async fn a_turned_link_is_judged_again() {
    let world = World::new();
    world.write("work/harmless", "fine");
    symlink(world.path("work/harmless"), world.path("work/link")).expect("link");
    let tool = world.tool("read_file").await;
    let arguments = json!({"path": "link"});
    tool.actions(&arguments, &world.context)
        .await
        .expect("judged");
    std::fs::remove_file(world.path("work/link")).expect("remove");
    symlink(world.path("home/.ssh/id"), world.path("work/link")).expect("link");
    world
        .gate
        .denies
        .store(true, std::sync::atomic::Ordering::Relaxed);

    let result = tool
        .call(
            arguments,
            openspace_grounding::Permit::Immediate,
            &world.context,
        )
        .await;

    assert!(matches!(result, Err(ToolError::Denied(_))), "{result:?}");
    let asked = world.gate.asked.lock().expect("lock");
    assert_eq!(
        *asked,
        [[Action::Read {
            path: world.path("home/.ssh/id")
        }]]
    );
}

/// A new file, its folders, and the way back.
#[tokio::test]
async fn files_are_written() {
    let world = World::new();
    let call = json!({"path": "a/b/file", "content": "snow ☃ 😀\n"});
    let actions = world
        .actions("write_file", call.clone())
        .await
        .expect("plan");
    assert_eq!(
        actions,
        [Action::Write {
            path: world.path("work/a/b/file"),
            keeps_copy: true
        }]
    );
    let output = world.call("write_file", call).await.expect("written");
    assert_eq!(world.read("work/a/b/file"), "snow ☃ 😀\n");
    let [
        Evidence::File {
            change: ChangeKind::Created,
            undo: Some(_),
            ..
        },
    ] = output.evidence.as_slice()
    else {
        panic!("{:?}", output.evidence)
    };

    std::fs::set_permissions(
        world.path("work/a/b/file"),
        PermissionsExt::from_mode(0o750),
    )
    .expect("mode");
    world
        .call("write_file", json!({"path": "a/b/file", "content": "new"}))
        .await
        .expect("written");
    let changes = world.keep.changes.lock().expect("lock");
    assert_eq!(changes[0].before, None);
    assert_eq!(
        changes[1].before.as_deref(),
        Some("snow ☃ 😀\n".as_bytes()),
        "kept before the change"
    );
    let mode = std::fs::metadata(world.path("work/a/b/file"))
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750, "the mode stays");
    assert_eq!(
        std::fs::read_dir(world.path("work/a/b"))
            .expect("list")
            .count(),
        1,
        "nothing is left over"
    );
}

/// Writing through a link changes what it leads to and leaves the link.
#[tokio::test]
async fn links_stay_links() {
    let world = World::new();
    world.write("work/target", "old");
    symlink("target", world.path("work/link")).expect("link");
    world
        .call("write_file", json!({"path": "link", "content": "new"}))
        .await
        .expect("written");
    assert!(world.path("work/link").is_symlink());
    assert_eq!(world.read("work/target"), "new");
}

/// A file too large to be kept is announced as such.
#[tokio::test]
async fn large_files_keep_no_copy() {
    let world = World::new();
    let file = std::fs::File::create(world.path("work/large")).expect("create");
    file.set_len(21 * 1024 * 1024).expect("grow");
    let call = json!({"path": "large", "content": ""});
    let actions = world.actions("write_file", call).await.expect("plan");
    assert_eq!(
        actions,
        [Action::Write {
            path: world.path("work/large"),
            keeps_copy: false
        }]
    );
}

/// An edit is exact, keeps line ends, and shows the difference.
#[tokio::test]
async fn files_are_edited() {
    let world = World::new();
    world.write("work/file", "a\r\nb\r\nc\r\n");
    let call = json!({"path": "file", "old": "b\nc", "new": "B\nC\nD"});
    let output = world.call("edit_file", call).await.expect("edited");
    assert_eq!(world.read("work/file"), "a\r\nB\r\nC\r\nD\r\n");
    assert!(
        text(&output).contains("-b") && text(&output).contains("+B"),
        "{}",
        text(&output)
    );
    let missing = world
        .call(
            "edit_file",
            json!({"path": "file", "old": "zzz", "new": "y"}),
        )
        .await;
    assert!(
        matches!(missing, Err(ToolError::InvalidArguments(_))),
        "{missing:?}"
    );
    let nowhere = world
        .call("edit_file", json!({"path": "none", "old": "z", "new": "y"}))
        .await;
    assert!(
        matches!(nowhere, Err(ToolError::NotFound(_))),
        "{nowhere:?}"
    );
    assert_eq!(
        world.read("work/file"),
        "a\r\nB\r\nC\r\nD\r\n",
        "a failed edit changes nothing"
    );
}
