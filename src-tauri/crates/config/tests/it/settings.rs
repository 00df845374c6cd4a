//! Defaults < file < environment < flags, and nothing is silently ignored.

use std::{collections::BTreeMap, fs, path::PathBuf};

use openspace_config::{Environment, Errors, Key, Layers, Origin, Schema, Settings};
use serde::{Deserialize, Serialize};

pub(crate) const SCHEMA: Schema = Schema {
    keys: &[
        Key {
            path: "model.name",
            about: "the model",
        },
        Key {
            path: "model.max_tokens",
            about: "size of an answer",
        },
        Key {
            path: "model.headers",
            about: "HTTP headers",
        },
        Key {
            path: "run.backends",
            about: "what a run may act with",
        },
        Key {
            path: "run.record",
            about: "whether it is recorded",
        },
        Key {
            path: "run.level",
            about: "how much is logged",
        },
        Key {
            path: "servers.*",
            about: "an MCP server",
        },
    ],
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Values {
    pub(crate) model: Model,
    pub(crate) run: Run,
    pub(crate) servers: BTreeMap<String, Server>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Model {
    pub(crate) name: Option<String>,
    pub(crate) max_tokens: u16,
    pub(crate) headers: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Run {
    pub(crate) backends: Vec<String>,
    pub(crate) record: bool,
    pub(crate) level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    #[default]
    Info,
    Debug,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            model: Model {
                max_tokens: 4096,
                ..Model::default()
            },
            run: Run {
                backends: vec!["shell".into(), "gui".into()],
                ..Run::default()
            },
            servers: BTreeMap::new(),
        }
    }
}

const VARIABLES: [(&str, &str); 4] = [
    ("T_MODEL", "model.name"),
    ("T_HEADERS", "model.headers"),
    ("T_BACKENDS", "run.backends"),
    ("T_RECORD", "run.record"),
];

struct Home {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn home(content: &[u8]) -> Home {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("settings.toml");
    fs::write(&path, content).expect("settings");
    Home {
        _folder: folder,
        path,
    }
}

fn load(content: &[u8]) -> Result<Settings<Values>, Errors> {
    Layers::new(SCHEMA).file(&home(content).path).load()
}

/// The messages without the folder, which differs each time.
fn complaints(content: &[u8]) -> Vec<String> {
    let home = home(content);
    let errors = Layers::new(SCHEMA)
        .file(&home.path)
        .load::<Values>()
        .expect_err("errors");
    let folder = format!("{}/", home.path.parent().expect("folder").display());
    errors
        .0
        .iter()
        .map(|error| error.to_string().replace(&folder, ""))
        .collect()
}

/// Each layer overrides the one below, and each value knows who gave it.
#[test]
fn later_layers_win_and_origins_are_known() {
    let home = home(b"[model]\nname = \"file\"\nmax_tokens = 100\n\n[run]\nrecord = true\n");
    let environment: Environment = [
        ("T_MODEL", "environment"),
        ("T_BACKENDS", "shell, web"),
        ("T_RECORD", ""),
    ]
    .into_iter()
    .collect();
    let settings: Settings<Values> = Layers::new(SCHEMA)
        .file(&home.path)
        .environment(&environment, VARIABLES)
        .flag("model.name", "--model", "flag")
        .load()
        .expect("settings");
    assert_eq!(settings.values.model.name.as_deref(), Some("flag"));
    assert_eq!(settings.values.model.max_tokens, 100);
    assert_eq!(settings.values.run.backends, ["shell", "web"]);
    assert!(
        settings.values.run.record,
        "an empty variable is no variable"
    );
    assert_eq!(
        settings.origin("model.name"),
        &Origin::Flag("--model".into())
    );
    assert_eq!(
        settings.origin("run.backends"),
        &Origin::Variable("T_BACKENDS".into())
    );
    let at = Origin::File {
        path: home.path.clone(),
        line: 3,
        column: 14,
    };
    assert_eq!(settings.origin("model.max_tokens"), &at);
    assert_eq!(settings.origin("run.level"), &Origin::Default);
}

/// Without a file there are the defaults.
#[test]
fn no_file_means_defaults() {
    let folder = tempfile::tempdir().expect("folder");
    let settings: Settings<Values> = Layers::new(SCHEMA)
        .file(&folder.path().join("none.toml"))
        .load()
        .expect("settings");
    assert_eq!(settings.values, Values::default());
    assert_eq!(load(b"").expect("empty").values, Values::default());
    assert_eq!(
        load(b"# only a comment").expect("comment").values,
        Values::default()
    );
}

/// Unknown names and bad values are told with file, line and column, all at once.
#[test]
fn everything_wrong_is_told_with_its_place() {
    let content = b"colour = 1\n\n[model]\n  nmae = \"x\"\nmax_tokens = 70000\n[run]\nlevel = \"loud\"\nrecord = \"perhaps\"\n[modle]\nname = \"y\"\n";
    let complaints = complaints(content);
    let expected = [
        "settings.toml:1:1: there is no setting `colour`",
        "settings.toml:4:3: there is no setting `model.nmae`; did you mean `model.name`?",
        "settings.toml:9:2: there is no setting `modle`; did you mean `model`?",
        "settings.toml:5:14: `model.max_tokens` cannot be that: invalid value: integer `70000`, expected u16",
        "settings.toml:7:9: `run.level` cannot be that: unknown variant `loud`, expected `info` or `debug`",
        "settings.toml:8:10: `run.record` cannot be that: invalid type: string \"perhaps\", expected a boolean",
    ];
    assert_eq!(complaints, expected);
}

/// A setting where a table belongs, and a table that is not closed, are told as well.
#[test]
fn the_wrong_shape_is_told() {
    assert_eq!(
        complaints(b"model = \"gpt\""),
        ["settings.toml:1:1: `model` cannot be that: it is a table that holds settings"]
    );
    let twice = complaints(b"[run]\nrecord = true\nrecord = false\n");
    assert_eq!(twice, ["settings.toml:3:1: duplicate key"]);
    let open = complaints(b"[run\nrecord = true\n");
    assert!(open[0].starts_with("settings.toml:1:5: "), "{open:?}");
}

/// Names that a person chooses hold one value each, checked as a whole.
#[test]
fn chosen_names_hold_whole_values() {
    let good =
        load(b"[servers.\"my.files\"]\ncommand = \"npx\"\narguments = [\"-y\"]\n").expect("good");
    let server = Server {
        command: "npx".into(),
        arguments: vec!["-y".into()],
    };
    assert_eq!(good.values.servers["my.files"], server);
    let bad = complaints(b"[servers.files]\ncomand = \"npx\"\n");
    assert_eq!(bad.len(), 1);
    assert!(
        bad[0].starts_with("settings.toml:1:") && bad[0].contains("unknown field `comand`"),
        "{bad:?}"
    );
}

/// Bytes that are no text, a folder, and a file nobody may read are three different answers.
#[test]
fn what_is_no_settings_file_is_said() {
    assert_eq!(
        complaints(b"[run]\nx = \"\xff\"\n"),
        ["settings.toml:2:6: this is not UTF-8 text; save the file as UTF-8"]
    );
    let folder = tempfile::tempdir().expect("folder");
    let errors = Layers::new(SCHEMA)
        .file(folder.path())
        .load::<Values>()
        .expect_err("folder");
    assert!(errors.to_string().contains("is not a file"), "{errors}");
}

/// A mark at the start and Windows line ends change neither values nor places.
#[test]
fn marks_and_carriage_returns_are_fine() {
    let content = "\u{feff}[model]\r\nname = \"x\"\r\nmax_tokens = 5\r\n";
    let settings = load(content.as_bytes()).expect("settings");
    assert_eq!(
        (
            settings.values.model.name.as_deref(),
            settings.values.model.max_tokens
        ),
        (Some("x"), 5)
    );
    let Origin::File { line, column, .. } = settings.origin("model.max_tokens") else {
        panic!("from the file")
    };
    assert_eq!((*line, *column), (3, 14));
    let marked = complaints("\u{feff}colour = 1\r\n".as_bytes());
    assert_eq!(marked, ["settings.toml:1:1: there is no setting `colour`"]);
}

/// Texts from variables and flags become what the setting is; what cannot is told by its name.
#[test]
fn texts_are_read_as_the_setting_wants_them() {
    let read = |key: &str, text: &str| {
        Layers::new(SCHEMA)
            .flag(key, "--x", text)
            .load::<Values>()
            .map(|settings| settings.values)
    };
    assert_eq!(
        read("model.name", "123")
            .expect("text")
            .model
            .name
            .as_deref(),
        Some("123")
    );
    assert_eq!(
        read("model.name", "true")
            .expect("text")
            .model
            .name
            .as_deref(),
        Some("true")
    );
    assert_eq!(
        read("model.max_tokens", " 12 ")
            .expect("number")
            .model
            .max_tokens,
        12
    );
    for yes in ["true", "1", "YES", "on"] {
        assert!(read("run.record", yes).expect("word").run.record, "{yes}");
    }
    for list in ["a,b", "[\"a\", \"b\"]", " a , b, "] {
        assert_eq!(
            read("run.backends", list).expect("list").run.backends,
            ["a", "b"],
            "{list}"
        );
    }
    let headers = read("model.headers", "{\"X-A\": \"1\"}")
        .expect("JSON")
        .model
        .headers;
    assert_eq!(
        headers,
        BTreeMap::from([("X-A".to_owned(), "1".to_owned())])
    );

    let message = |key: &str, text: &str| read(key, text).expect_err("error").to_string();
    assert_eq!(
        message("model.max_tokens", "99999"),
        "`--x`: `model.max_tokens` cannot be that: invalid value: integer `99999`, expected u16"
    );
    assert_eq!(
        message("run.record", "maybe"),
        "`--x`: `run.record` cannot be that: invalid type: string \"maybe\", expected a boolean"
    );
    assert_eq!(
        message("model.nme", "x"),
        "`--x`: there is no setting `model.nme`; did you mean `model.name`?"
    );
    assert_eq!(message("model", "x"), "`--x`: there is no setting `model`");
}

/// The listing has every setting with value, origin and meaning.
#[test]
fn settings_can_be_listed() {
    let settings = load(b"[servers]\nfiles = { command = \"npx\" } # mine\n").expect("settings");
    let entries = settings.entries();
    let lines: Vec<_> = entries
        .iter()
        .map(|entry| format!("{}={}", entry.key, entry.value.as_deref().unwrap_or("-")))
        .collect();
    let expected = [
        "model.name=-",
        "model.max_tokens=4096",
        "model.headers={}",
        "run.backends=[\"shell\", \"gui\"]",
        "run.record=false",
        "run.level=\"info\"",
        "servers.files={ command = \"npx\" }",
    ];
    assert_eq!(lines, expected);
    assert_eq!(
        settings.entry("model.max_tokens").expect("entry").about,
        "size of an answer"
    );
}
