//! Folders are found whatever the environment lacks.
#![cfg(target_os = "linux")]

use std::{fs, path::Path};

use openspace_config::{Environment, Paths, PathsError, System};

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().copied().collect()
}

/// A machine with a user list and nothing else.
fn machine(folder: &Path) -> System {
    let passwd = folder.join("passwd");
    fs::write(
        &passwd,
        "root:x:0:0:root:/root:/bin/sh\nann:x:4242:4242:Ann:/home/ann:/bin/sh\n",
    )
    .expect("users");
    System {
        uid: Some(4242),
        passwd,
        processes: folder.join("proc"),
        runtimes: folder.join("run"),
        x_sockets: folder.join("x"),
    }
}

/// With the usual environment the folders are those of the XDG specification.
#[test]
fn folders_follow_the_platform() {
    let folder = tempfile::tempdir().expect("folder");
    let system = machine(folder.path());
    let environment = environment(&[
        ("HOME", "/home/bea"),
        ("XDG_DATA_HOME", "/srv/data"),
        ("XDG_CONFIG_HOME", "relative/is/ignored"),
        ("XDG_CACHE_HOME", ""),
    ]);
    let paths = Paths::find_on(&environment, &system).expect("paths");
    let expected = Paths {
        data: "/srv/data/openspace".into(),
        config: "/home/bea/.config/openspace/settings.toml".into(),
        cache: "/home/bea/.cache/openspace".into(),
        runtime: "/srv/data/openspace/run".into(),
        home: "/home/bea".into(),
    };
    assert_eq!(paths, expected);
    assert_eq!(
        paths.database(),
        Path::new("/srv/data/openspace/openspace.db")
    );
}

/// With no environment at all, the list of users and the login's runtime folder are asked.
#[test]
fn an_empty_environment_finds_the_same_user() {
    let folder = tempfile::tempdir().expect("folder");
    let system = machine(folder.path());
    let login = system.runtimes.join("4242");
    fs::create_dir_all(&login).expect("login");
    let paths = Paths::find_on(&Environment::default(), &system).expect("paths");
    assert_eq!(paths.home, Path::new("/home/ann"));
    assert_eq!(paths.data, Path::new("/home/ann/.local/share/openspace"));
    assert_eq!(paths.runtime, login.join("openspace"));
}

/// `OPENSPACE_HOME` moves everything but the folder of the login session's locks.
#[test]
fn one_variable_moves_everything() {
    let folder = tempfile::tempdir().expect("folder");
    let system = machine(folder.path());
    let run = folder.path().join("login");
    fs::create_dir(&run).expect("login");
    let run = run.to_str().expect("text");
    let own = environment(&[("OPENSPACE_HOME", "/srv/os"), ("XDG_RUNTIME_DIR", run)]);
    let paths = Paths::find_on(&own, &system).expect("paths");
    let expected = Paths {
        data: "/srv/os".into(),
        config: "/srv/os/settings.toml".into(),
        cache: "/srv/os/cache".into(),
        runtime: Path::new(run).join("openspace"),
        home: "/home/ann".into(),
    };
    assert_eq!(paths, expected);

    let tilde = environment(&[("OPENSPACE_HOME", "~/os")]);
    let paths = Paths::find_on(&tilde, &system).expect("paths");
    assert_eq!(
        paths.data,
        Path::new("/home/ann/os"),
        "no shell expands what a host passes"
    );
}

/// A relative folder would be another one in each process, so it is refused.
#[test]
fn a_relative_home_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    let environment = environment(&[("OPENSPACE_HOME", "here")]);
    let error = Paths::find_on(&environment, &machine(folder.path())).expect_err("relative");
    assert!(matches!(&error, PathsError::Relative { value } if value == Path::new("here")));
    assert!(
        error.to_string().contains("absolute"),
        "says what to do: {error}"
    );
}

/// A user nobody knows gets an answer that names the way out, unless the way out was taken.
#[test]
fn an_unknown_user_is_told_what_to_set() {
    let folder = tempfile::tempdir().expect("folder");
    let system = System {
        uid: Some(7),
        ..machine(folder.path())
    };
    let error = Paths::find_on(&Environment::default(), &system).expect_err("no home");
    assert!(error.to_string().contains("OPENSPACE_HOME"), "{error}");

    let own = environment(&[("OPENSPACE_HOME", "/srv/os")]);
    let paths = Paths::find_on(&own, &system).expect("paths");
    assert_eq!(
        (paths.home, paths.runtime),
        (
            "/srv/os".into(),
            "/srv/os/.local/share/openspace/run".into()
        )
    );
}

/// Folders are made for this user only, and making them twice is no error.
#[test]
fn folders_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("folder");
    let home = folder.path().join("os");
    let environment = environment(&[("OPENSPACE_HOME", home.to_str().expect("text"))]);
    let system = machine(folder.path());
    let mut paths = Paths::find_on(&environment, &system).expect("paths");
    paths.runtime = home.join("run");
    paths.create().expect("first");
    paths.create().expect("second");
    for made in [&paths.data, &paths.cache, &paths.runtime] {
        let mode = fs::metadata(made).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", made.display());
    }
}
