//! Files that something runs later stay as they are, whatever a command in the sandbox does.

use std::{os::unix::fs::PermissionsExt, path::Path, process::Command};

use openspace_grounding::{Backend, Output, Permit, ToolError};
use serde_json::{Value, json};

use crate::world::{World, eventually, is_alive, pids, text};

fn world() -> World {
    World::with([("PATH", "/usr/local/bin:/usr/bin:/bin")].into())
}

/// The person's git, outside the sandbox.
fn git(world: &World, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org"])
        .args(arguments)
        .current_dir(world.path("work"))
        .env("HOME", world.path("home"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn hook(world: &World, part: &str, content: &str) {
    world.write(part, content);
    std::fs::set_permissions(world.path(part), PermissionsExt::from_mode(0o755)).expect("mode");
}

async fn shell(world: &World, line: &str) -> String {
    world.text("run_command", json!({"command": line})).await
}

/// With a person who was asked and said yes.
async fn approved(world: &World, line: &str) -> Result<Output, ToolError> {
    let tool = world.tool("run_command").await;
    let arguments: Value = json!({"command": line});
    tool.actions(&arguments, &world.context).await?;
    tool.call(arguments, Permit::AfterWait, &world.context)
        .await
}

fn artefacts(world: &World) -> Vec<String> {
    let kept = world.keep.artefacts.lock().expect("lock");
    kept.values()
        .map(|data| String::from_utf8_lossy(data).into_owned())
        .collect()
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// A hook is taken away, kept for the person, and the model is told how to ask.
#[tokio::test]
async fn a_new_hook_is_taken_away() {
    let world = world();
    git(&world, &["init", "-q"]);
    let line = "python3 -c \"import os; p = '.g' + 'it/ho' + 'oks/pre-' + 'commit'; \
                open(p, 'w').write('#!/bin/sh\\ntouch pwned\\n'); os.chmod(p, 0o755)\"; echo done";
    let shown = shell(&world, line).await;
    assert!(
        !world.path("work/.git/hooks/pre-commit").exists(),
        "{shown}"
    );
    assert!(shown.starts_with("done\n[exit code 0"), "{shown}");
    assert!(
        shown.contains("[put back: took away the new `.git/hooks/pre-commit` (kept as artefact `"),
        "{shown}"
    );
    assert!(
        shown.contains("write_file") && shown.contains("outside_sandbox"),
        "{shown}"
    );
    assert_eq!(artefacts(&world), ["#!/bin/sh\ntouch pwned\n"]);
}

/// Hooks the person has come back whatever was done to them: content, rights, links, deletion.
#[tokio::test]
async fn existing_hooks_are_restored() {
    for change in [
        "echo evil >> .git/hooks/pre-push",
        "rm .git/hooks/pre-push",
        "rm -r .git/hooks",
        "chmod -x .git/hooks/pre-push",
        "printf '#!/bin/sh\\nevil\\n' > x; chmod +x x; ln -sf ../../x .git/hooks/pre-push",
        "rm .git/hooks/pre-push; mkdir .git/hooks/pre-push",
        "mv .git/hooks .git/hooked; mkdir .git/hooks; echo x > .git/hooks/post-commit",
        "mv .git/hooks .git/hooked; ln -s ../x .git/hooks; mkdir x; echo x > x/pre-push",
    ] {
        let world = world();
        git(&world, &["init", "-q"]);
        hook(&world, "work/.git/hooks/pre-push", "#!/bin/sh\nexit 0\n");
        let shown = shell(&world, change).await;
        let path = world.path("work/.git/hooks/pre-push");
        assert_eq!(
            std::fs::read_to_string(&path).ok().as_deref(),
            Some("#!/bin/sh\nexit 0\n"),
            "{change}: {shown}"
        );
        assert!(is_executable(&path), "{change}");
        assert!(!path.is_symlink(), "{change}");
        assert!(shown.contains("[put back: "), "{change}: {shown}");
        assert!(
            !world.path("work/.git/hooks/post-commit").exists(),
            "{change}"
        );
    }
}

/// Settings that run something are taken out; those beside them stay.
#[tokio::test]
async fn settings_that_run_something_are_taken_out() {
    let world = world();
    git(&world, &["init", "-q"]);
    let line = "git remote add origin https://example.org/a.git && \
                printf '[core] hooksPath = evil\\n\\tfsmonitor = ./evil\\n[alias]\\n\\tst = !evil\\n' >> .git/config; \
                mkdir evil; echo x > evil/pre-commit";
    let shown = shell(&world, line).await;
    let config = world.read("work/.git/config");
    assert!(!config.contains("evil"), "{config}");
    assert!(
        shown.contains("took core.hookspath, core.fsmonitor, alias.st out of `.git/config`"),
        "{shown}"
    );
    assert_eq!(
        git(&world, &["config", "remote.origin.url"]),
        "https://example.org/a.git\n"
    );
    assert_eq!(
        world.read("work/evil/pre-commit"),
        "x\n",
        "that is only a file"
    );
}

/// What the person had set stays set.
#[tokio::test]
async fn settings_of_the_person_are_restored() {
    let world = world();
    git(&world, &["init", "-q"]);
    git(&world, &["config", "core.hooksPath", ".checks"]);
    hook(&world, "work/.checks/pre-commit", "#!/bin/sh\nexit 0\n");
    let before = world.read("work/.git/config");
    let shown = shell(&world, "git config --unset core.hooksPath").await;
    assert_eq!(world.read("work/.git/config"), before, "{shown}");
    let shown = shell(&world, "git config core.hooksPath other").await;
    assert_eq!(world.read("work/.git/config"), before, "{shown}");
    let shown = shell(&world, "rm .git/config").await;
    assert_eq!(world.read("work/.git/config"), before, "{shown}");
    let shown = shell(&world, "printf '[core\\n' >> .git/config").await;
    assert_eq!(world.read("work/.git/config"), before, "{shown}");
    let line =
        "git config alias.x '!evil'; git config core.pager evil; git config pull.rebase true";
    let shown = shell(&world, line).await;
    assert_eq!(
        git(&world, &["config", "core.hooksPath"]),
        ".checks\n",
        "beside others: {shown}"
    );
    assert_eq!(git(&world, &["config", "pull.rebase"]), "true\n", "{shown}");
    assert!(!world.read("work/.git/config").contains("evil"), "{shown}");
    // The folder the setting names is one of hooks now.
    let shown = shell(
        &world,
        "echo evil >> .checks/pre-commit; echo x > .checks/post-commit",
    )
    .await;
    assert_eq!(
        world.read("work/.checks/pre-commit"),
        "#!/bin/sh\nexit 0\n",
        "{shown}"
    );
    assert!(!world.path("work/.checks/post-commit").exists(), "{shown}");
}

/// Hooks are where the settings say, for every work tree of a repository and for all repositories.
#[tokio::test]
async fn folders_of_hooks_are_found() {
    let world = world();
    world.write("home/.gitconfig", "[core]\n\thooksPath = .person\n");
    git(&world, &["init", "-q", "one"]);
    git(
        &world,
        &["-C", "one", "commit", "-q", "--allow-empty", "-m", "A"],
    );
    git(&world, &["-C", "one", "config", "core.hooksPath", ".team"]);
    git(&world, &["-C", "one", "worktree", "add", "-q", "../two"]);
    git(&world, &["init", "-q", "three"]);
    hook(&world, "work/two/.team/pre-push", "mine\n");
    hook(&world, "work/three/.person/pre-push", "mine\n");
    let line = "for name in one two three; do mkdir -p $name/.team $name/.person; \
                echo x > $name/.team/pre-commit; echo x > $name/.person/pre-commit; done; \
                echo x > two/.team/pre-push; echo x > three/.person/pre-push";
    let shown = shell(&world, line).await;
    assert_eq!(world.read("work/two/.team/pre-push"), "mine\n", "{shown}");
    assert_eq!(
        world.read("work/three/.person/pre-push"),
        "mine\n",
        "{shown}"
    );
    for (folder, right) in [
        ("one/.team", false),
        ("two/.team", false),
        ("three/.team", true),
        ("one/.person", false),
        ("two/.person", false),
        ("three/.person", false),
    ] {
        let path = world.path(&format!("work/{folder}/pre-commit"));
        assert_eq!(path.exists(), right, "{folder}: {shown}");
    }
}

/// A repository put in the place of the person's is put aside, and theirs comes back.
#[tokio::test]
async fn a_renamed_repository_comes_back() {
    let world = world();
    git(&world, &["init", "-q"]);
    world.write("work/file", "1");
    git(&world, &["add", "file"]);
    git(&world, &["commit", "-q", "-m", "Begin"]);
    for line in [
        "mv .git old && git init -q && echo evil > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
        "mv .git old && git init -q && git config core.pager evil",
        "mkdir deep && mv .git deep/x",
        "mv .git old && rm old/HEAD.lock old/description; echo 'gitdir: old' > .git",
        "mv .git old && ln -s old .git",
        "mv .git old && echo 'gitdir: /proc/self/cwd' > .git",
    ] {
        let shown = shell(&world, line).await;
        assert!(shown.contains("back to `.git`"), "{line}: {shown}");
        assert_eq!(
            git(&world, &["log", "--format=%s"]),
            "Begin\n",
            "{line}: {shown}"
        );
        assert!(!world.path("work/.git/hooks/pre-commit").exists(), "{line}");
        let config = std::fs::read_to_string(world.path("work/.git/config")).expect("config");
        assert!(!config.contains("evil"), "{line}");
    }
}

/// Folders that git takes for repositories by what is in them, however it is led to them.
#[tokio::test]
async fn repositories_in_disguise_are_found() {
    let lines = [
        // A bare one, found by whoever changes into its folder.
        "mkdir -p a/objects a/refs; printf 'ref: refs/heads/main\\n' > a/HEAD; \
         printf '[core]\\n\\tbare = false\\n\\tfsmonitor = evil\\n' > a/config",
        // One that shares what it has with another.
        "mkdir b c; printf 'ref: refs/heads/main\\n' > b/HEAD; echo ../c > b/commondir; \
         mkdir -p c/objects c/refs c/hooks; printf 'evil\\n' > c/hooks/pre-commit",
        // A file that leads there.
        "git init -q sub; mv sub/.git real; echo 'gitdir: ../real' > sub/.git; echo evil > real/hooks/pre-commit",
        // A file that leads out of what is looked at.
        "git init -q sub; mv sub/.git \"$TMPDIR/real\"; echo \"gitdir: $TMPDIR/real\" > sub/.git; \
         echo evil > \"$TMPDIR/real/hooks/pre-commit\"",
        // Within another one.
        "git init -q; git init -q .git/modules/x; echo evil > .git/modules/x/.git/hooks/pre-commit",
        // Deep within what nobody looks at.
        "mkdir -p node_modules/x target; git init -q node_modules/x/y; echo evil > node_modules/x/y/.git/hooks/pre-commit",
        // A second file of settings.
        "git init -q; git config extensions.worktreeConfig true; printf '[core]\\n\\tpager = evil\\n' > .git/config.worktree",
    ];
    for line in lines {
        let world = world();
        let shown = shell(&world, line).await;
        assert!(shown.contains("[put back: "), "{line}: {shown}");
        assert_eq!(
            evil_files(&world.path("work")),
            Vec::<String>::new(),
            "{line}: {shown}"
        );
        if line.contains("TMPDIR") {
            assert!(!world.path("work/sub/.git").exists(), "{shown}");
        }
    }
}

fn evil_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if entry.file_type().expect("a type").is_dir() {
            found.extend(evil_files(&path));
        } else if std::fs::read(&path).is_ok_and(|data| data.windows(4).any(|part| part == b"evil"))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Two commands that are harmless one by one come to nothing together.
#[tokio::test]
async fn steps_of_one_attack_are_seen_together() {
    let world = world();
    git(&world, &["init", "-q"]);
    shell(
        &world,
        "mkdir -p x/hooks x/objects x/refs; echo evil > x/hooks/pre-commit; echo x > x/H",
    )
    .await;
    let shown = shell(&world, "mv x/H x/HEAD; echo ../x > .git/commondir").await;
    assert!(shown.contains("x/hooks/pre-commit"), "{shown}");
    assert_eq!(
        evil_files(&world.path("work")),
        Vec::<String>::new(),
        "{shown}"
    );

    // Moved to where it counts, instead of written there.
    shell(
        &world,
        "rm .git/commondir; mkdir -p y/hooks; echo evil > y/hooks/post-commit",
    )
    .await;
    let shown = shell(&world, "rm -r .git/hooks; mv y/hooks .git/hooks").await;
    assert!(shown.contains("`.git/hooks/post-commit`"), "{shown}");
    assert_eq!(
        evil_files(&world.path("work")),
        Vec::<String>::new(),
        "{shown}"
    );
}

/// Everything on the policy's list is meant, in every folder.
#[tokio::test]
async fn other_files_that_run_later() {
    let world = world();
    world.write("work/.envrc", "export A=1\n");
    world.write("work/sub/.vscode/tasks.json", "{}");
    let line = "echo evil >> .envrc; rm sub/.vscode/tasks.json; mkdir -p new/.vscode; \
                echo '{\"evil\": 1}' > new/.vscode/tasks.json; mkdir .husky; echo evil > .husky/pre-commit; echo x > sub/ok";
    let shown = shell(&world, line).await;
    assert_eq!(world.read("work/.envrc"), "export A=1\n", "{shown}");
    assert_eq!(world.read("work/sub/.vscode/tasks.json"), "{}", "{shown}");
    assert_eq!(
        evil_files(&world.path("work")),
        Vec::<String>::new(),
        "{shown}"
    );
    assert_eq!(world.read("work/sub/ok"), "x\n");
}

/// Everyday work with git is nobody's business.
#[tokio::test]
async fn everyday_git_works_untouched() {
    let world = world();
    let name = "git config user.name Ana && git config user.email ana@example.org";
    let lines = [
        format!("git init -q one && cd one && {name} && echo 1 > a && git add a && git commit -q -m A"),
        "cd one && git remote add origin ../one && git branch b && git checkout -q b && git config pull.rebase true".to_owned(),
        "git clone -q one two && git -C two log --oneline && git -C two remote -v".to_owned(),
        "cd two && git fetch -q && git config alias.st 'status --short' && git st".to_owned(),
        "cd one && git worktree add -q ../three && cd ../three && git status --short".to_owned(),
        format!("git init -q four && cd four && {name} && git -c protocol.file.allow=always submodule add -q ../two sub 2>&1 && git commit -q -m S"),
        "git clone -q --bare one five.git && git -C five.git log --oneline".to_owned(),
        "mv four six && cd six && git status --short && git -C sub log --oneline".to_owned(),
        "mv one/.git/hooks/pre-commit.sample one/.git/hooks/other.sample && rm one/.git/hooks/other.sample".to_owned(),
        "rm -rf two six five.git && git -C one worktree remove --force ../three".to_owned(),
    ];
    for line in lines {
        let shown = shell(&world, &line).await;
        assert!(shown.contains("[exit code 0"), "{line}: {shown}");
        assert!(!shown.contains("put back"), "{line}: {shown}");
    }
    assert_eq!(artefacts(&world), Vec::<String>::new());
    assert_eq!(
        git(&world, &["-C", "one", "log", "--format=%s", "b"]),
        "A\n"
    );
}

/// A project with hooks may be renamed, and goes on working.
#[tokio::test]
async fn a_project_may_be_renamed() {
    let world = world();
    std::fs::create_dir(world.path("work/one")).expect("folder");
    git(&world, &["init", "-q", "one"]);
    hook(
        &world,
        "work/one/.git/hooks/pre-commit",
        "#!/bin/sh\nexit 0\n",
    );
    world.write("work/one/.envrc", "export A=1\n");
    let shown = shell(&world, "mv one two").await;
    assert!(!shown.contains("put back"), "{shown}");
    assert_eq!(world.read("work/two/.envrc"), "export A=1\n");
    assert!(is_executable(&world.path("work/two/.git/hooks/pre-commit")));
    assert!(!world.path("work/one").exists());
}

/// What a command does beside and after being watched is put back too: killed, timed out, in the
/// background, left behind.
#[tokio::test]
async fn commands_that_do_not_end_by_themselves() {
    let world = world();
    git(&world, &["init", "-q"]);
    let path = world.path("work/.git/hooks/pre-commit");
    let call =
        json!({"command": "echo evil > .git/hooks/pre-commit; sleep 600; :", "timeout_seconds": 1});
    let shown = world.text("run_command", call).await;
    assert!(
        shown.contains("timed out") && shown.contains("put back"),
        "{shown}"
    );
    assert!(!path.exists());

    let shown = shell(&world, "echo evil > .git/hooks/pre-commit; kill -9 $$").await;
    assert!(
        shown.contains("signal 9") && shown.contains("put back"),
        "{shown}"
    );
    assert!(!path.exists());

    let line = "while ! test -e go; do sleep 0.05; done; echo evil > .git/hooks/pre-commit; touch written; sleep 600; :";
    world
        .text("run_command", json!({"command": line, "background": true}))
        .await;
    world.write("work/go", "");
    eventually("it was written", || world.path("work/written").exists()).await;
    eventually("it was put back while the command runs", || !path.exists()).await;
    let shown = world.text("command_status", json!({"id": "job1"})).await;
    assert!(
        shown.contains("still running") && shown.contains("put back"),
        "{shown}"
    );
    let shown = world.text("command_stop", json!({"id": "job1"})).await;
    assert!(!shown.contains("put back"), "told once: {shown}");

    let line = "setsid sh -c 'sleep 0.7; echo evil > .git/hooks/pre-commit; touch late; sleep 600' > /dev/null 2>&1 &";
    shell(&world, line).await;
    eventually("it was written", || world.path("work/late").exists()).await;
    world.shell.close().await;
    assert!(!path.exists(), "closing looks a last time");
}

/// A command nobody waits for any more is put back all the same.
#[tokio::test]
async fn cancelled_and_dropped_commands() {
    let world = world();
    git(&world, &["init", "-q"]);
    let path = world.path("work/.git/hooks/pre-commit");
    let line = "echo $$ > pids; echo evil > .git/hooks/pre-commit; sleep 600; :";
    let pid_file = world.path("work/pids");
    tokio::select! {
        _ = world.call("run_command", json!({"command": line})) => panic!("must not end"),
        () = eventually("it started", || pids(&pid_file).len() == 1) => {}
    }
    eventually("it was put back", || !path.exists()).await;
    eventually("it is gone", || !is_alive(pids(&pid_file)[0])).await;

    let cancel = world.context.cancel.clone();
    let marker = world.path("work/second");
    let line = "echo evil > .git/hooks/pre-commit; touch second; sleep 600; :";
    let stop = async {
        eventually("it started", || marker.exists()).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(world.call("run_command", json!({"command": line})), stop);
    assert_eq!(
        result.map(|output| text(&output)),
        Err(ToolError::Cancelled)
    );
    assert!(!path.exists());
}

/// Who writes it again and again is ended.
#[tokio::test]
async fn a_stubborn_command_is_ended() {
    let world = world();
    git(&world, &["init", "-q"]);
    let line = "echo $$ > pid; while :; do echo evil > .git/hooks/pre-commit; sleep 0.01; done";
    world
        .text("run_command", json!({"command": line, "background": true}))
        .await;
    let pid = pids(&world.path("work/pid"))[0];
    eventually("it is ended", || !is_alive(pid)).await;
    let shown = world.text("command_status", json!({"id": "job1"})).await;
    assert!(shown.contains("kept changing such files"), "{shown}");
    assert!(!world.path("work/.git/hooks/pre-commit").exists());
}

/// What a person allowed stays: a line that names the file, leaving the sandbox, the file tools.
#[tokio::test]
async fn what_a_person_allowed_stays() {
    let world = world();
    git(&world, &["init", "-q"]);
    let output = approved(&world, "echo 1 > .git/hooks/pre-commit; echo 1 > .git/hooks/post-commit; python3 -c \"open('.git/hooks/pre-' + 'push', 'w')\"")
        .await
        .expect("ran");
    assert_eq!(world.read("work/.git/hooks/pre-commit"), "1\n");
    assert_eq!(world.read("work/.git/hooks/post-commit"), "1\n");
    assert!(
        !world.path("work/.git/hooks/pre-push").exists(),
        "not named: {}",
        text(&output)
    );
    approved(&world, "git config core.pager less")
        .await
        .expect("ran");
    assert_eq!(git(&world, &["config", "core.pager"]), "less\n");
    approved(&world, "rm .git/hooks/pre-commit")
        .await
        .expect("ran");
    assert!(!world.path("work/.git/hooks/pre-commit").exists());
    let shown = shell(&world, "rm .git/hooks/post-commit").await;
    assert!(
        world.path("work/.git/hooks/post-commit").exists(),
        "nobody was asked: {shown}"
    );

    let outside = json!({"command": "echo 2 > .git/hooks/pre-push", "outside_sandbox": true});
    let shown = world.text("run_command", outside).await;
    assert!(!shown.contains("put back"), "{shown}");
    assert_eq!(world.read("work/.git/hooks/pre-push"), "2\n");

    // Also while a command in the background is watched.
    world
        .text(
            "run_command",
            json!({"command": "sleep 600; :", "background": true}),
        )
        .await;
    let file = json!({"path": ".git/hooks/pre-push", "content": "3\n"});
    world.call("write_file", file).await.expect("written");
    let shown = world.text("command_stop", json!({"id": "job1"})).await;
    assert!(!shown.contains("put back"), "{shown}");
    assert_eq!(world.read("work/.git/hooks/pre-push"), "3\n");
}

/// What is put back is put back where it was, though a link is put in the way.
#[tokio::test]
async fn no_link_leads_astray() {
    let world = world();
    git(&world, &["init", "-q"]);
    world.write("home/.ssh/pre-commit", "SECRET");
    hook(&world, "work/.git/hooks/pre-commit", "mine\n");
    let line = format!(
        "mv .git/hooks .git/gone; ln -s {} .git/hooks",
        world.path("home/.ssh").display()
    );
    let shown = shell(&world, &line).await;
    assert_eq!(world.read("home/.ssh/pre-commit"), "SECRET", "{shown}");
    assert_eq!(
        world.read("work/.git/hooks/pre-commit"),
        "mine\n",
        "{shown}"
    );
    assert!(
        artefacts(&world)
            .iter()
            .all(|data| !data.contains("SECRET"))
    );

    let line = format!(
        "ln -sf {}/id .git/hooks/post-commit; ln -sf {}/id .envrc",
        world.path("home/.ssh").display(),
        world.path("home/.ssh").display()
    );
    let shown = shell(&world, &line).await;
    assert!(!world.path("work/.envrc").is_symlink(), "{shown}");
    assert!(
        artefacts(&world)
            .iter()
            .all(|data| !data.contains("SECRET"))
    );
    assert_eq!(world.read("home/.ssh/id"), "SECRET");
    world.shell.close().await;
}
