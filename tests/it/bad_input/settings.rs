//! Settings files that are wrong, and the commands that mend them.

use std::fs;

use openspace_testkit::{model::Turn, wait_until};

use super::{assert_says, assert_store_is_whole, openspace};
use crate::rig::{LIMIT, Rig};

fn with_settings(content: &[u8]) -> Rig {
    let rig = Rig::headless(Vec::new());
    fs::write(rig.home.data().join("settings.toml"), content).expect("write");
    rig
}

/// Every kind of mistake in the file is told with its place, and no command that needs the file
/// goes on without it.
#[test]
fn a_wrong_file_is_told_with_its_place() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"model = [\n", &["settings.toml:1:", "unclosed"]),
        (
            b"[model]\nnmae = \"x\"\n",
            &[
                "settings.toml:2:1",
                "no setting `model.nmae`",
                "did you mean `model.name`",
            ],
        ),
        (
            b"[run]\nmax_steps = \"many\"\n",
            &["settings.toml:2:13", "run.max_steps", "\"many\""],
        ),
        (
            b"\xff\xfe[model]\n",
            &["not UTF-8", "save the file as UTF-8"],
        ),
        (
            b"[policy]\npreset = \"nope\"\n",
            &["settings.toml:2:", "policy.preset", "ask-risky"],
        ),
        (
            b"[policy]\nallow = [\"bogus:x\"]\n",
            &[
                "settings.toml:2:",
                "policy.allow",
                "`bogus:x` is not a rule",
            ],
        ),
        (
            b"[screen]\nhuman_input = \"dance\"\n",
            &["settings.toml:2:", "`dance`", "`pause`"],
        ),
        (
            b"[screen]\nprivate_size = \"big\"\n",
            &["settings.toml:2:", "WIDTHxHEIGHT"],
        ),
        (
            b"[run]\nbackends = [\"shell\", \"magic\"]\n",
            &["settings.toml:2:", "`magic`", "`shell`"],
        ),
        (
            b"[run]\nmax_minutes = nan\n",
            &["settings.toml:2:", "run.max_minutes", "above 0"],
        ),
        (
            b"[run]\nmax_cost = -1.0\n",
            &["settings.toml:2:", "run.max_cost", "above 0"],
        ),
        (
            b"[log]\nlevel = \"(\"\n",
            &["settings.toml:2:", "log.level", "warn"],
        ),
        (
            b"[log]\nlevel = \"loud\"\n",
            &["settings.toml:2:", "`loud`", "debug"],
        ),
        (b"language = \"tlh\"\n", &["language", "zh-Hans"]),
    ];
    for (content, said) in cases {
        let rig = with_settings(content);
        let output = rig.run("Anything", &["--backends", "shell"]);
        assert_says(&output, 2, said);
        let after = fs::read(rig.home.data().join("settings.toml")).expect("still there");
        assert_eq!(&after, content, "the file is left as it is");
        assert!(rig.server.requests().is_empty(), "nothing was begun");
        rig.finish();
    }
}

/// All mistakes are told at once.
#[test]
fn all_mistakes_are_told_at_once() {
    let rig = with_settings(b"colour = 1\n[run]\nmax_steps = -1\n");
    let output = openspace(&rig, &["runs", "list"]);
    assert_says(&output, 2, &["`colour`", "run.max_steps"]);
    rig.finish();
}

/// A folder where the file belongs is named, and nothing is put into it.
#[test]
fn a_folder_in_the_place_of_the_file_is_named() {
    let rig = Rig::headless(Vec::new());
    let path = rig.home.data().join("settings.toml");
    fs::create_dir(&path).expect("folder");
    for command in [
        vec!["runs", "list"],
        vec!["config", "set", "run.max_steps", "7"],
        vec!["config", "get"],
    ] {
        let output = openspace(&rig, &command);
        assert_says(&output, 2, &["settings.toml", "not a file"]);
    }
    assert_eq!(fs::read_dir(path).expect("folder").count(), 0);
    rig.finish();
}

/// What is set is read back with its place, and comments and everything else in the file stay.
#[test]
fn settings_are_set_with_comments_kept() {
    let rig = with_settings(b"# my note\n[run]\nmax_steps = 5 # five\n");
    let path = rig.home.data().join("settings.toml");
    let set = openspace(&rig, &["config", "set", "run.max_steps", "7"]);
    assert_says(&set, 0, &["run.max_steps = 7"]);
    let set = openspace(&rig, &["config", "set", "policy.allow", "[\"gui:gimp\"]"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    let text = fs::read_to_string(&path).expect("file");
    assert!(
        text.starts_with("# my note\n[run]\nmax_steps = 7 # five\n"),
        "{text}"
    );
    let get = openspace(&rig, &["config", "get", "run.max_steps"]);
    assert!(get.stdout.starts_with("run.max_steps = 7"), "{get:?}");
    assert!(get.stdout.contains("settings.toml:3:"), "{get:?}");
    let get = openspace(&rig, &["config", "get", "policy.allow", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&get.stdout).expect("JSON");
    assert_eq!(value["value"], "[\"gui:gimp\"]");
    let place = openspace(&rig, &["config", "path"]);
    assert!(
        place.stdout.contains(&path.display().to_string()),
        "{place:?}"
    );
    rig.finish();
}

/// A value that cannot be is refused before it is written.
#[test]
fn wrong_values_are_not_written() {
    let rig = with_settings(b"# mine\n");
    let cases = [
        ("run.max_steps", "x", "run.max_steps"),
        ("run.max_stepz", "1", "did you mean `run.max_steps`"),
        ("policy.preset", "nope", "`nope` is not a preset"),
        ("policy.allow", "[\"bogus:x\"]", "not a rule"),
        ("screen.human_input", "dance", "`pause`"),
        ("run.max_cost", "-3", "above 0"),
        ("run.backends", "[\"magic\"]", "`magic`"),
    ];
    for (key, value, said) in cases {
        let output = openspace(&rig, &["config", "set", key, value]);
        assert_says(&output, 2, &[said]);
    }
    let text = fs::read_to_string(rig.home.data().join("settings.toml")).expect("file");
    assert_eq!(text, "# mine\n", "left as it was");
    let output = openspace(&rig, &["config", "get", "run.max_stepz"]);
    assert_says(&output, 2, &["did you mean `run.max_steps`"]);
    rig.finish();
}

/// However wrong the settings are, what is going can be stopped.
#[test]
fn a_stop_works_with_wrong_settings() {
    let rig = Rig::headless(Vec::new());
    let late = Turn::done("Late.").after(std::time::Duration::from_secs(60));
    rig.server.set_script(vec![late]);
    let mut run = rig
        .openspace(&["run", "Wait", "--backends", "shell"])
        .start()
        .expect("starts");
    let asked = || {
        rig.server
            .requests()
            .iter()
            .any(|seen| !seen.tools.is_empty())
    };
    assert!(wait_until(LIMIT, asked), "it runs");
    let path = rig.home.data().join("settings.toml");
    fs::write(&path, "colour = [\n").expect("write");
    let output = openspace(&rig, &["stop"]);
    assert_says(&output, 0, &["settings.toml:1:", "Stopped"]);
    assert_eq!(run.wait(LIMIT).expect("ends").code, Some(3));
    fs::remove_file(path).expect("remove");
    assert_store_is_whole(&rig, &["stopped"]);
    rig.finish();
}

/// The old system's list of back ends names some that come later; they keep nothing from working.
#[test]
fn back_ends_of_the_old_system_are_passed_over() {
    let rig = Rig::headless(vec![Turn::done("Done.")]);
    let run = |scope: &str| {
        rig.openspace(&["run", "Nothing"])
            .env("OPENSPACE_BACKEND_SCOPE", scope)
            .run()
            .expect("runs")
    };
    let output = run("shell,mcp,web,system");
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Done.\n"),
        "{output:?}"
    );
    assert_says(&run("mcp,web"), 2, &["no back end", "shell"]);
    assert_says(
        &run("shell,magic"),
        2,
        &["OPENSPACE_BACKEND_SCOPE", "`magic`"],
    );
    rig.finish();
}

/// A wrong setting can be mended with the program itself.
#[test]
fn a_wrong_setting_is_mended_by_setting_it() {
    let rig = with_settings(b"[run]\nmax_steps = \"many\" # hm\n");
    let output = openspace(&rig, &["config", "set", "run.max_steps", "9"]);
    assert_says(&output, 0, &[]);
    let output = openspace(&rig, &["config", "get", "run.max_steps"]);
    assert!(output.stdout.contains("= 9"), "{output:?}");
    rig.finish();
}
