//! Files handed over with a task.

use std::{fs, process::Command};

use openspace_testkit::model::Turn;

use super::{assert_says, openspace};
use crate::rig::Rig;

/// A PNG of one colour, written without a library.
fn png(rig: &Rig, name: &str, width: u32, height: u32) -> String {
    let path = rig.home.workspace().join(name);
    let code = format!(
        "import struct, sys, zlib\n\
         def part(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))\n\
         rows = (b'\\0' + b'\\x20\\x80\\xf0' * {width}) * {height}\n\
         open(sys.argv[1], 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + part(b'IHDR', struct.pack('>IIBBBBB', {width}, {height}, 8, 2, 0, 0, 0)) + part(b'IDAT', zlib.compress(rows)) + part(b'IEND', b''))"
    );
    let status = Command::new("/usr/bin/python3")
        .args(["-c", &code])
        .arg(&path)
        .status()
        .expect("python3");
    assert!(status.success());
    path.display().to_string()
}

/// What cannot be handed over is refused before a run begins.
#[test]
fn attachments_that_cannot_be() {
    let rig = Rig::headless(Vec::new());
    let whole = fs::read(png(&rig, "whole.png", 300, 200)).expect("read");
    let write = |name: &str, bytes: &[u8]| {
        let path = rig.home.workspace().join(name);
        fs::write(&path, bytes).expect("write");
        path.display().to_string()
    };
    let cases = [
        ("/nonexistent/x.png".to_owned(), "cannot be used"),
        (
            write("garbage.png", b"this is no picture"),
            "no picture that can be shown",
        ),
        (
            write("cut.png", &whole[..whole.len() / 2]),
            "no picture that can be shown",
        ),
        (write("empty.jpg", b""), "no picture that can be shown"),
    ];
    for (path, said) in cases {
        let output = openspace(
            &rig,
            &["run", "Look", "--backends", "shell", "--attach", &path],
        );
        assert_says(&output, 2, &[&path, said]);
    }
    assert!(rig.server.requests().is_empty(), "nothing was begun");
    let listed = openspace(&rig, &["runs", "list"]);
    assert_eq!(listed.stdout, "");
    rig.finish();
}

/// Pictures of any size are shown as large as the model sees them; folders and other files are
/// named, and nothing is too large to be handed over by name.
#[test]
fn attachments_of_all_kinds() {
    let rig = Rig::headless(vec![Turn::done("Seen.")]);
    let large = png(&rig, "large.png", 3840, 2160);
    let folder = rig.home.workspace().join("folder");
    fs::create_dir(&folder).expect("folder");
    let huge = rig.home.workspace().join("huge.png");
    let file = fs::File::create(&huge).expect("file");
    file.set_len(1 << 32).expect("sparse");
    let (folder, huge) = (folder.display().to_string(), huge.display().to_string());
    let mut arguments = vec!["run", "Look", "--backends", "shell"];
    for path in [&large, &folder, &huge] {
        arguments.extend(["--attach", path]);
    }
    let output = openspace(&rig, &arguments);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Seen.\n"),
        "{output:?}"
    );
    let requests = rig.server.requests();
    let seen = requests.last().expect("a request");
    assert_eq!(seen.images().len(), 1, "the picture is shown");
    for path in [&large, &folder, &huge] {
        assert!(seen.person().contains(path.as_str()), "{path} is named");
    }
    rig.finish();
}
