//! Data folders that are full, read-only, somebody else's or of another version.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use openspace_testkit::model::Turn;

use super::{assert_says, assert_store_is_whole, openspace};
use crate::rig::Rig;

fn python(code: &str, path: &Path) {
    let status = Command::new("/usr/bin/python3")
        .args(["-c", code])
        .arg(path)
        .status()
        .expect("python3");
    assert!(status.success());
}

/// A database of a newer version is refused by every command and stays byte for byte as it was.
#[test]
fn a_newer_database_is_left_alone() {
    let rig = Rig::headless(vec![Turn::done("Done.")]);
    rig.run("Nothing", &["--backends", "shell"]);
    let path = rig.home.data().join("openspace.db");
    let newer = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
                 c.execute('update openspace_schema set schema = 99, min_compatible = 99'); \
                 c.commit(); c.execute('pragma wal_checkpoint(truncate)'); c.close()";
    python(newer, &path);
    let before = fs::read(&path).expect("database");
    for arguments in [
        vec!["runs", "list"],
        vec!["run", "Nothing"],
        vec!["stop"],
        vec!["approve"],
        vec!["doctor"],
    ] {
        let output = openspace(&rig, &arguments);
        assert_says(&output, 1, &["openspace.db", "newer"]);
    }
    assert!(before == fs::read(&path).expect("database"), "untouched");
    rig.finish();
}

/// A file that is no database of ours is named and stays as it was.
#[test]
fn somebody_elses_file_is_left_alone() {
    let rig = Rig::headless(Vec::new());
    let path = rig.home.data().join("openspace.db");
    let garbage: Vec<u8> = (0..5000_u32).map(|n| ((n * 7919) >> 3) as u8).collect();
    fs::write(&path, &garbage).expect("write");
    let output = openspace(&rig, &["runs", "list"]);
    assert_says(
        &output,
        1,
        &["openspace.db", "not an OpenSpace database", "move it away"],
    );
    assert_eq!(fs::read(&path).expect("file"), garbage);

    fs::remove_file(&path).expect("remove");
    let other = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
                 c.execute('create table recipes (name)'); c.commit()";
    python(other, &path);
    let before = fs::read(&path).expect("file");
    let output = openspace(&rig, &["run", "Nothing"]);
    assert_says(&output, 1, &["not an OpenSpace database"]);
    assert!(before == fs::read(&path).expect("file"), "untouched");

    fs::remove_file(&path).expect("remove");
    fs::create_dir(&path).expect("folder");
    let output = openspace(&rig, &["runs", "list"]);
    assert_says(&output, 1, &["openspace.db"]);
    rig.finish();
}

/// A data folder that is a file, or no absolute path.
#[test]
fn a_data_folder_that_cannot_be() {
    let rig = Rig::headless(Vec::new());
    let file = rig.home.root().join("file");
    fs::write(&file, "x").expect("write");
    let with = |value: String| {
        let program = rig.openspace(&["runs", "list"]);
        program.env("OPENSPACE_HOME", value).run().expect("runs")
    };
    let output = with(file.display().to_string());
    assert_ne!(output.code, Some(0), "{output:?}");
    assert_says(
        &output,
        output.code.unwrap_or(-1),
        &[&file.display().to_string()],
    );
    assert_says(
        &with("relative/folder".into()),
        2,
        &["OPENSPACE_HOME", "relative/folder"],
    );
    rig.finish();
}

/// A mounted folder, gone on drop.
struct Mounted(PathBuf);

impl Mounted {
    /// None, with the reason printed, where this may not be done.
    #[expect(clippy::print_stderr, reason = "a skipped test says why")]
    fn new(folder: PathBuf, options: &str) -> Option<Self> {
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&folder)
            .output();
        match output {
            Ok(output) if output.status.success() => Some(Self(folder)),
            Ok(output) => {
                let reason = String::from_utf8_lossy(&output.stderr).into_owned();
                eprintln!("skipped: mounting is not permitted here: {reason}");
                None
            }
            Err(error) => {
                eprintln!("skipped: there is no `mount` here: {error}");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _gone = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A disk that is full at the start or becomes full is told, and the store is whole afterwards.
#[test]
fn a_full_disk() {
    let big = "head -c 6000000 /dev/zero | tr '\\0' 'x'";
    let rig = Rig::headless(vec![
        Turn::done("Done."),
        Turn::shell(big),
        Turn::shell("echo on"),
        Turn::done("Done all the same."),
        Turn::done("Once more."),
    ]);
    let Some(mounted) = Mounted::new(rig.home.data(), "size=4m") else {
        return;
    };
    let output = rig.run("Nothing", &["--backends", "shell"]);
    assert_eq!(output.code, Some(0), "{output:?}");

    let output = rig.run("Print much", &["--backends", "shell"]);
    let first = output.code;
    assert!(matches!(first, Some(0 | 1)), "{output:?}");
    if first == Some(1) {
        assert_says(&output, 1, &["full"]);
    }

    let filler = rig.home.data().join("filler");
    let mut file = fs::File::create(&filler).expect("file");
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    drop(file);
    let output = rig.run("Nothing", &["--backends", "shell"]);
    assert_says(&output, 1, &["full"]);

    fs::remove_file(&filler).expect("remove");
    let listed = openspace(&rig, &["runs", "list", "--json"]);
    for line in listed.stdout.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let status = row["run"]["status"].as_str().expect("status");
        assert!(
            ["done", "failed", "interrupted"].contains(&status),
            "{line}"
        );
    }
    rig.server.set_script(vec![Turn::done("Once more.")]);
    let output = rig.run("Nothing", &["--backends", "shell"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Once more.\n"),
        "{output:?}"
    );
    drop(mounted);
    rig.finish();
}

/// A data folder that cannot be written is told before anything begins.
#[test]
fn a_read_only_data_folder() {
    let rig = Rig::headless(Vec::new());
    let Some(mounted) = Mounted::new(rig.home.data(), "size=1m,ro") else {
        return;
    };
    for arguments in [vec!["run", "Nothing"], vec!["runs", "list"], vec!["doctor"]] {
        let output = openspace(&rig, &arguments);
        assert_says(&output, 1, &["data", "ead-only"]);
    }
    let output = openspace(&rig, &["config", "set", "run.max_steps", "5"]);
    assert_says(&output, 2, &["settings.toml", "ead-only"]);
    let output = openspace(&rig, &["config", "get", "run.max_steps"]);
    assert_eq!(output.code, Some(0), "reading needs no writing: {output:?}");
    drop(mounted);
    assert_store_is_whole(&rig, &[]);
    rig.finish();
}
