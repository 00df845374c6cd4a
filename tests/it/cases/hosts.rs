//! Hosts' files: D-16 to D-19.

use std::{fs, path::Path};

use crate::hosts::{Desk, backups, lines};

/// A file of a host in a form that exists: other line ends, a mark in front, no end of the last line.
fn forms(text: &str) -> Vec<Vec<u8>> {
    let windows = text.replace('\n', "\r\n");
    let cut = text.trim_end_matches('\n');
    let marked = format!("\u{feff}{text}");
    [
        text,
        &windows,
        cut,
        &marked,
        &format!("\u{feff}{}", windows.trim_end()),
    ]
    .map(|form| form.as_bytes().to_vec())
    .to_vec()
}

/// Registers, registers again and unregisters, with the expected bytes after each.
fn assert_golden(host: &str, file: &str, before: &str, after: &str) {
    let desk = Desk::new();
    let after = desk.golden(after);
    for (before, after) in forms(before).into_iter().zip(forms(&after)) {
        let path = desk.write(file, &before);
        desk.run(&["register", host], 0);
        let written = fs::read(&path).expect("a file");
        assert_eq!(
            String::from_utf8_lossy(&written),
            String::from_utf8_lossy(&after),
            "{host}"
        );
        let copies = backups(&path).len();
        let again = desk.run(&["register", host], 0);
        assert!(again.stderr.contains("registered already"), "{again:?}");
        assert_eq!(
            fs::read(&path).expect("a file"),
            written,
            "a second time changes nothing"
        );
        assert_eq!(backups(&path).len(), copies, "and keeps no copy");
        desk.run(&["unregister", host], 0);
        assert_eq!(
            String::from_utf8_lossy(&fs::read(&path).expect("a file")),
            String::from_utf8_lossy(&before),
            "{host}"
        );
    }
    desk.finish();
}

/// D-16: what runs from a mount is registered by a path that stays, and what points into a mount
/// that is gone is corrected.
#[test]
fn d16_a_registered_path_stays() {
    let desk = Desk::new();
    let mount = desk.home.root().join("tmp/.mount_OpenSpXb1c2d");
    let mounted = mount.join("usr/bin/openspace");
    fs::create_dir_all(mounted.parent().expect("a folder")).expect("folders");
    let program = Path::new(env!("CARGO_BIN_EXE_openspace"));
    if fs::hard_link(program, &mounted).is_err() {
        fs::copy(program, &mounted).expect("a copy");
    }
    let codex = desk.write(".codex/config.toml", "# mine\n");
    let cursor = desk.write(".cursor/mcp.json", "{}");
    let done = desk
        .with(&mounted, &["register", "codex"])
        .run()
        .expect("runs");
    assert_eq!(done.code, Some(0), "{done:?}");
    let copy = desk.home.data().join("bin/openspace");
    let text = fs::read_to_string(&codex).expect("a file");
    assert!(
        text.contains(&format!("command = \"{}\"", copy.display())),
        "{text}"
    );
    assert!(!text.contains(".mount_"), "{text}");

    // An entry as a program wrote it that did not know better.
    let home = desk.home.data().display().to_string();
    let entry = serde_json::json!({ "mcpServers": { "openspace": {
        "command": mounted, "args": ["mcp"], "env": { "OPENSPACE_HOME": home }, "note": "mine" } } });
    fs::write(&cursor, entry.to_string()).expect("a file");
    fs::remove_dir_all(&mount).expect("unmounted");
    assert_eq!(desk.state("cursor"), "moved");

    let dry = desk.run(&["doctor", "--dry-run"], 1);
    assert!(dry.stdout.contains("would be corrected"), "{dry:?}");
    assert_eq!(
        fs::read_to_string(&cursor).expect("a file"),
        entry.to_string()
    );
    let cured = desk.run(&["doctor"], 0);
    assert!(cured.stdout.contains("corrected; starts"), "{cured:?}");
    let corrected = entry
        .to_string()
        .replace(&mounted.display().to_string(), &copy.display().to_string());
    assert_eq!(
        fs::read_to_string(&cursor).expect("a file"),
        corrected,
        "and nothing else"
    );
    let version = openspace_testkit::Program::new(&copy)
        .arg("--version")
        .environment(desk.home.environment())
        .run()
        .expect("the copy runs without the mount");
    assert_eq!(version.code, Some(0), "{version:?}");

    // The copy itself is gone: the same command brings it back.
    fs::remove_file(&copy).expect("gone");
    let cured = lines(&desk.run(&["doctor", "--json"], 0).stdout).remove(0);
    assert_eq!(cured["staleCopy"], copy.display().to_string());
    assert!(copy.is_file());
    desk.finish();
}

/// D-17: comments, trailing commas, tabs, other servers with nothing in them, names without quotes:
/// only our entry is added, and taking it away leads back to the same bytes.
#[test]
fn d17_zed_settings_are_kept() {
    assert_golden(
        "zed",
        ".config/zed/settings.json",
        include_str!("../../fixtures/hosts/zed.settings.json"),
        include_str!("../../fixtures/hosts/zed.settings.registered.json"),
    );
}

/// D-17, in VS Code's file with its `servers`.
#[test]
fn d17_vscode_servers_are_kept() {
    assert_golden(
        "vscode",
        ".config/Code/User/mcp.json",
        include_str!("../../fixtures/hosts/vscode.mcp.json"),
        include_str!("../../fixtures/hosts/vscode.mcp.registered.json"),
    );
}

/// D-17, in openclaw's JSON5.
#[test]
fn d17_openclaw_json5_is_kept() {
    assert_golden(
        "openclaw",
        ".openclaw/openclaw.json",
        include_str!("../../fixtures/hosts/openclaw.json"),
        include_str!("../../fixtures/hosts/openclaw.registered.json"),
    );
}

/// D-17, in goose's YAML.
#[test]
fn d17_goose_yaml_is_kept() {
    assert_golden(
        "goose",
        ".config/goose/config.yaml",
        include_str!("../../fixtures/hosts/goose.config.yaml"),
        include_str!("../../fixtures/hosts/goose.config.registered.yaml"),
    );
}

/// D-18: a file that cannot be read, or is not ours to change, is left alone byte for byte, with its
/// place, what is wrong, and what to paste.
#[test]
fn d18_an_unparsable_file_is_left_alone() {
    let desk = Desk::new();
    let broken =
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  },\n  \"projects\": {\n";
    let file = desk.write(".claude.json", broken);
    for verb in ["register", "unregister"] {
        let refused = desk.run(&[verb, "claude-code"], 1);
        assert_eq!(fs::read_to_string(&file).expect("a file"), broken);
        let place = format!("{}:6:1", file.display());
        assert!(refused.stderr.contains(&place), "{refused:?}");
    }
    let refused = desk.run(&["register", "claude-code"], 1);
    assert!(
        refused
            .stderr
            .contains("\"mcpServers\": {\n    \"openspace\": {"),
        "{refused:?}"
    );
    assert!(backups(&file).is_empty());
    assert!(!desk.path(".claude.json.lock").exists());

    fs::remove_file(&file).expect("removed");
    fs::create_dir(&file).expect("a folder in its place");
    let refused = desk.run(&["register", "claude-code"], 1);
    assert!(refused.stderr.contains("is not a file"), "{refused:?}");
    assert!(file.is_dir());
    desk.finish();
}

/// D-18: another user's file, and one that is write-protected.
#[cfg(unix)]
#[test]
fn d18_a_protected_file_is_left_alone() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let desk = Desk::new();
    let text = "{\"mcpServers\": {}}";
    let file = desk.write(".claude.json", text);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).expect("a mode");
    let refused = desk.run(&["register", "claude-code"], 1);
    assert!(refused.stderr.contains("write-protected"), "{refused:?}");
    // Only root can give a file away.
    if chown(&file, Some(4321), None).is_ok() {
        let refused = desk.run(&["register", "claude-code"], 1);
        assert!(
            refused.stderr.contains("belongs to another user"),
            "{refused:?}"
        );
        assert!(refused.stderr.contains("\"openspace\": {"), "{refused:?}");
        assert_eq!(fs::metadata(&file).expect("a file").uid(), 4321);
    }
    assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    desk.finish();
}

/// D-18: a link into somebody's collection of configurations stays one, and the file behind it is
/// what changes.
#[cfg(unix)]
#[test]
fn d18_a_link_stays_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let desk = Desk::new();
    let real = desk.write("dotfiles/claude.json", "{\n  \"numStartups\": 3\n}");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a mode");
    let link = desk.path(".claude.json");
    symlink("dotfiles/claude.json", &link).expect("a link");
    desk.run(&["register", "claude-code"], 0);
    assert!(link.is_symlink());
    let text = fs::read_to_string(&real).expect("a file");
    assert!(
        text.contains("\"openspace\"") && text.contains("\"numStartups\": 3"),
        "{text}"
    );
    assert_eq!(
        fs::metadata(&real).expect("a file").permissions().mode() & 0o777,
        0o640
    );
    desk.run(&["unregister", "claude-code"], 0);
    assert_eq!(
        fs::read_to_string(&real).expect("a file"),
        "{\n  \"numStartups\": 3\n}"
    );
    assert!(link.is_symlink());
    desk.finish();
}

/// D-19: everything of Codex's file but our table stays, numbers as they are written, and calls may
/// take long.
#[test]
fn d19_codex_toml_is_kept() {
    let after = include_str!("../../fixtures/hosts/codex.config.registered.toml");
    assert!(after.contains("\ntool_timeout_sec = 600\n"));
    assert_golden(
        "codex",
        ".codex/config.toml",
        include_str!("../../fixtures/hosts/codex.config.toml"),
        after,
    );
}
