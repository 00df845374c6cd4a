//! Who may use whom, asked of cargo.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

use super::{assert_nothing, root};

/// Each crate with the crates it may use, as design section 3 has them, lowest first. A new crate
/// is added here, with a thought about where it belongs. Names are without `openspace-`.
const EDGES: &[(&str, &[&str])] = &[
    ("config", &[]),
    ("store", &[]),
    ("llm", &[]),
    ("community", &[]),
    ("process", &[]),
    ("grounding", &["llm", "store"]),
    ("skills", &["llm", "store"]),
    ("hosts", &["config", "process"]),
    ("knowledge", &["store"]),
    ("hub", &["community"]),
    ("shell", &["grounding", "process"]),
    ("gui", &["grounding"]),
    ("web", &["grounding"]),
    ("mcp", &["grounding", "process"]),
    ("agent", &["llm", "store", "grounding", "skills"]),
    (
        "app",
        &[
            "config",
            "store",
            "llm",
            "community",
            "process",
            "grounding",
            "skills",
            "hosts",
            "knowledge",
            "shell",
            "gui",
            "web",
            "mcp",
            "agent",
        ],
    ),
    ("serve", &["app"]),
    ("gateway", &["app", "process"]),
    // The root package: the two binaries.
    ("desktop", &["app", "serve", "gateway", "hub"]),
    // Outside the product.
    ("testkit", &[]),
    ("xtask", &[]),
];

/// May use every crate: it measures them and is no part of the product.
const MEASURES: &str = "bench";

/// Dependencies that only these crates may name.
const RESERVED: &[(&str, &[&str])] = &[
    ("rusqlite", &["store", "hub"]),
    ("rmcp", &["mcp", "serve"]),
    ("tauri", &["desktop"]),
    ("ts-rs", &["app"]),
    ("x11rb", &["gui", "testkit", "bench"]),
    ("xcap", &["gui"]),
    ("enigo", &["gui"]),
];

/// What the lean binary must never need, because it needs a library of the system.
#[cfg(target_os = "linux")]
const HEAVY: [&str; 12] = [
    "tauri",
    "wry",
    "webkit2gtk",
    "gtk",
    "gdk",
    "openssl-sys",
    "native-tls",
    "libdbus-sys",
    "pipewire",
    "xcb",
    "xcap",
    "enigo",
];

/// Our own crates. Without the others nothing has to be downloaded for it.
fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml")).no_deps();
    command.exec().expect("cargo metadata")
}

fn short(name: &str) -> &str {
    name.strip_prefix("openspace-").unwrap_or(name)
}

/// Every dependency between our crates is on the list; the test kit is used by tests only.
#[test]
fn crates_use_only_what_lies_below_them() {
    let metadata = metadata();
    let edges: BTreeMap<_, _> = EDGES.iter().copied().collect();
    let own: BTreeSet<_> = metadata
        .workspace_packages()
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let name = short(&package.name);
        if name == MEASURES {
            continue;
        }
        let Some(allowed) = edges.get(name) else {
            found.push(format!("`{name}` is not in the table"));
            continue;
        };
        for dependency in &package.dependencies {
            if !own.contains(&dependency.name) {
                continue;
            }
            let target = short(&dependency.name);
            let test_only = dependency.kind == DependencyKind::Development && target == "testkit";
            if !test_only && !allowed.contains(&target) {
                found.push(format!("`{name}` uses `{target}`"));
            }
        }
    }
    assert_nothing("forbidden edges between crates", &found);
}

/// The list itself has each crate once, and uses only what stands above it.
#[test]
fn the_table_has_no_circle() {
    let mut known = BTreeSet::new();
    for (name, uses) in EDGES {
        for used in *uses {
            assert!(
                known.contains(used),
                "`{name}` uses `{used}`, which stands below it"
            );
        }
        assert!(known.insert(name), "`{name}` is listed twice");
    }
}

/// A facility with one owner is not used by others.
#[test]
fn reserved_dependencies_stay_with_their_owners() {
    let mut found = Vec::new();
    for package in metadata().workspace_packages() {
        let name = short(&package.name);
        for dependency in &package.dependencies {
            let reserved = RESERVED
                .iter()
                .find(|(reserved, _)| *reserved == dependency.name);
            if reserved.is_some_and(|(_, owners)| !owners.contains(&name)) {
                found.push(format!("`{name}` uses `{}`", dependency.name));
            }
        }
    }
    assert_nothing("dependencies that belong to other crates", &found);
}

/// The bundler takes the program that runs by default for the app, and would install the command line
/// program under its name.
#[test]
fn the_app_is_what_runs_by_default() {
    let metadata = metadata();
    let package = metadata.root_package().expect("a root package");
    assert_eq!(package.default_run.as_deref(), Some(package.name.as_str()));
}

/// The lean binary reaches neither the window's toolkit nor anything that needs a system library.
/// macOS and Windows have xcap and enigo instead of our own path.
#[cfg(target_os = "linux")]
#[test]
fn the_lean_binary_stays_lean() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = std::process::Command::new(cargo)
        .current_dir(root())
        .args([
            "tree",
            "--offline",
            "--package",
            "openspace-desktop",
            "--edges",
            "normal",
        ])
        .args(["--prefix", "none", "--format", "{p}"])
        .output()
        .expect("cargo tree");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree: {errors}");
    let tree = String::from_utf8_lossy(&output.stdout);
    let reached: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(reached.contains("openspace-store"), "the tree was read");
    let found: Vec<_> = HEAVY
        .iter()
        .filter(|name| reached.contains(*name))
        .map(|name| format!("`{name}`"))
        .collect();
    assert_nothing("the lean binary reaches", &found);
}
