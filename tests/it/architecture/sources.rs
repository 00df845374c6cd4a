//! Rules about the text of sources and the shape of the tree.

use super::{Source, assert_nothing, root, sources};

/// Longer files are split. Tables of data may be longer; they are named here.
const MOST_LINES: usize = 600;
const LONG_TABLES: &[&str] = &["src-tauri/crates/grounding/src/policy/command/programs.rs"];

const CRATES: &str = "src-tauri/crates";

/// Sources of the product, without tests.
fn product() -> Vec<Source> {
    let outside = ["testkit", "xtask", "bench"].map(|name| format!("{CRATES}/{name}/"));
    let mut product = sources("src-tauri");
    product.retain(|source| {
        !source.path.contains("/tests/")
            && !outside.iter().any(|path| source.path.starts_with(path))
    });
    product
}

/// Places where a line of code fits, outside the paths where it may.
fn places(sources: &[Source], allowed: &[&str], fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        if allowed
            .iter()
            .any(|path| source.path.starts_with(&format!("{CRATES}/{path}")))
        {
            continue;
        }
        let lines = source.code().filter(|(_, line)| fits(line));
        found.extend(
            lines.map(|(number, line)| format!("{}:{number}: {}", source.path, line.trim())),
        );
    }
    found
}

/// All SQL is in `store`, and in `hub` for its own database.
#[test]
fn sql_is_only_in_the_store() {
    let is_sql = |line: &str| {
        let both = |first: &str, second: &str| {
            line.split_once(first)
                .is_some_and(|(_, rest)| rest.contains(second))
        };
        [
            "INSERT INTO ",
            "DELETE FROM ",
            "CREATE TABLE ",
            "PRAGMA ",
            "ALTER TABLE ",
        ]
        .iter()
        .any(|words| line.contains(words))
            || both("SELECT ", " FROM ")
            || both("UPDATE ", " SET ")
    };
    assert!(
        is_sql("\"UPDATE runs SET x = 1\"") && !is_sql("UPDATE the FROM"),
        "the rule works"
    );
    let found = places(&product(), &["store/", "hub/"], is_sql);
    assert_nothing("SQL outside the store", &found);
}

/// Only the platform modules call the operating system without a safe wrapper.
#[test]
fn unsafe_code_is_only_in_platform_modules() {
    let is_unsafe = |line: &str| {
        [
            "unsafe {",
            "unsafe fn",
            "unsafe impl",
            "unsafe extern",
            "#[unsafe(",
        ]
        .iter()
        .any(|words| line.contains(words))
    };
    let mut all = sources("src-tauri");
    all.extend(
        sources("tests")
            .into_iter()
            .filter(|source| !source.path.ends_with("/sources.rs")),
    );
    let found = places(
        &all,
        &["gui/src/platform", "process/src/platform"],
        is_unsafe,
    );
    assert_nothing("unsafe code outside the platform modules", &found);
}

/// Only `llm` speaks the vendors' wire formats.
#[test]
fn vendors_are_named_only_in_llm() {
    let names_vendor = |line: &str| {
        ["anthropic-version", "chat/completions"]
            .iter()
            .any(|words| line.contains(words))
    };
    let found = places(&product(), &["llm/"], names_vendor);
    assert_nothing("wire formats outside `llm`", &found);
}

/// No file is longer than a reader wants.
#[test]
fn files_are_short() {
    let mut all = sources("src-tauri");
    all.extend(sources("tests"));
    let found: Vec<_> = all
        .iter()
        .filter(|source| !LONG_TABLES.contains(&source.path.as_str()))
        .map(|source| (source.text.lines().count(), &source.path))
        .filter(|(lines, _)| *lines > MOST_LINES)
        .map(|(lines, path)| format!("{path}: {lines} lines"))
        .collect();
    assert_nothing("files to be split", &found);
}

/// The shell is the window toolkit and nothing else: what it decides and says is in `app`.
#[test]
fn the_shell_is_thin() {
    const MOST: usize = 800;
    let sample = Source {
        path: String::new(),
        text: "//! Doc.\n\nfn one() {}\n    // Why.\n    two();\n#[cfg(test)]\nmod tests {\n}\n"
            .into(),
    };
    assert_eq!(code_lines(&sample), 2, "the rule works");
    let counted: Vec<_> = sources("src-tauri/src")
        .iter()
        .map(|source| (code_lines(source), source.path.clone()))
        .collect();
    let sum: usize = counted.iter().map(|(lines, _)| lines).sum();
    assert!(sum < MOST, "{sum} lines of code: {counted:?}");
}

/// Lines without blank ones, comments and tests, which stand at the end.
fn code_lines(source: &Source) -> usize {
    let code = source.code().map(|(_, line)| line.trim());
    let product = code.take_while(|line| *line != "#[cfg(test)]");
    product.filter(|line| !line.is_empty()).count()
}

/// Modules and types are named after what they are.
#[test]
fn names_say_something() {
    const MODULES: [&str; 8] = [
        "utils", "util", "common", "helpers", "helper", "misc", "types", "stuff",
    ];
    const ENDINGS: [&str; 6] = ["Manager", "Service", "Helper", "Util", "Utils", "Processor"];
    let mut all = sources("src-tauri");
    all.extend(sources("tests"));
    let mut found = Vec::new();
    for source in &all {
        let parts = source.path.trim_end_matches(".rs").split('/');
        if parts.clone().any(|part| MODULES.contains(&part)) || source.path.ends_with("/mod.rs") {
            found.push(source.path.clone());
        }
        for (number, line) in source.code() {
            let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let declares = words.any(|word| matches!(word, "struct" | "enum" | "trait"));
            let name = words.next().unwrap_or_default();
            if declares && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                found.push(format!("{}:{number}: {name}", source.path));
            }
        }
    }
    assert_nothing("names that say nothing", &found);
}

/// The top level holds only what has to be there.
#[test]
fn the_top_level_is_tidy() {
    const ALLOWED: [&str; 9] = [
        "Cargo.toml",
        "Cargo.lock",
        "tauri.conf.json",
        "README.md",
        "LICENSE",
        "icons",
        "src-tauri",
        "tests",
        "ui",
    ];
    // Made by tools and ignored by git.
    const IGNORED: [&str; 2] = ["target", "gen"];
    let found: Vec<_> = std::fs::read_dir(root())
        .expect("the root")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !name.starts_with('.') && !ALLOWED.contains(&name.as_str()))
        .filter(|name| !IGNORED.contains(&name.as_str()))
        .collect();
    assert_nothing("files that do not belong at the top", &found);
}
