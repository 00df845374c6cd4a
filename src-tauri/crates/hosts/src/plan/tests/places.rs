//! Which of several files is a host's.

use super::*;

fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !name.contains(".openspace-"))
        .collect();
    names.sort();
    names
}

/// An openclaw that was another program once keeps its file, under whatever name: a new one beside it
/// would hide all that it was told.
#[test]
fn an_older_configuration_is_never_hidden_by_a_new_one() {
    let claw = host("openclaw");
    let before = "{ gateway: { port: 1 }, mcp: { servers: {} } }\n";
    for name in ["openclaw", "clawdbot", "moldbot", "moltbot"] {
        for folder in ["openclaw", "clawdbot", "moldbot", "moltbot", "elsewhere"] {
            let rig = Rig::new();
            let folder = rig.path("home").join(format!(".{folder}"));
            let place = folder.display().to_string();
            let variables = [("OPENCLAW_STATE_DIR", place.as_str())];
            let named = folder.ends_with(".elsewhere");
            let hosts = rig.hosts_where(if named { &variables } else { &[] });
            let file = folder.join(format!("{name}.json"));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(&file, before).expect("a file");
            let done = hosts
                .register(claw, &Scope::User, Options::default(), NOW)
                .expect("registered");
            assert_eq!(done.plan.file, file);
            assert_eq!(files_in(&folder), [format!("{name}.json")]);
            hosts
                .unregister(claw, &Scope::User, false, NOW)
                .expect("unregistered");
            assert_eq!(read(&file), before);
        }
    }
    let rig = Rig::new();
    let folder = rig.path("home/.openclaw");
    fs::create_dir_all(&folder).expect("a folder");
    let file = |variables: &[(&str, &str)]| {
        let hosts = rig.hosts_where(variables);
        hosts.file(claw, &Scope::User).expect("a file")
    };
    assert_eq!(file(&[]), folder.join("openclaw.json"));
    fs::write(folder.join("clawdbot.json"), before).expect("a file");
    let folder = folder.to_str().expect("text");
    let named = [
        ("OPENCLAW_CONFIG_PATH", "/named/claw.json"),
        ("OPENCLAW_STATE_DIR", folder),
    ];
    assert_eq!(file(&named), Path::new("/named/claw.json"));
}

/// On Windows, Hermes has its file in one of two places: the one that is there is it.
#[test]
fn the_file_of_hermes_on_windows_is_the_one_that_is_there() {
    let hermes = host("hermes");
    for place in [".hermes", "AppData/Local/hermes"] {
        let rig = Rig::on(Platform::Windows);
        let file = rig.path("home").join(place).join("config.yaml");
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(&file, "model: x\n").expect("a file");
        let found = rig.hosts().file(hermes, &Scope::User).expect("a file");
        assert_eq!(found, file);
    }
    let rig = Rig::on(Platform::Windows);
    let found = rig.hosts().file(hermes, &Scope::User).expect("a file");
    assert_eq!(found, rig.path("home/.hermes/config.yaml"));
}
