//! Desktop entries (Desktop Entry Specification 1.5).

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What counts of a desktop entry.
pub(super) struct Entry {
    pub(super) title: String,
    pub(super) exec: String,
    pub(super) terminal: bool,
}

impl Entry {
    /// The entries of a data folder with their identifiers, in the order of those.
    pub(super) fn all(folder: &Path) -> Vec<(String, Self)> {
        let entries = fs::read_dir(folder.join("applications"));
        let mut files: Vec<PathBuf> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "desktop"))
            .collect();
        files.sort();
        files
            .iter()
            .filter_map(|file| {
                let id = file.file_stem()?.to_string_lossy().into_owned();
                Some((id, entry(&fs::read_to_string(file).ok()?)?))
            })
            .collect()
    }
}

fn entry(text: &str) -> Option<Entry> {
    let mut group = "";
    let mut entry = Entry {
        title: String::new(),
        exec: String::new(),
        terminal: false,
    };
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            group = line;
        } else if group == "[Desktop Entry]"
            && let Some((key, value)) = line.split_once('=')
        {
            match key.trim_end() {
                "Name" => value.trim_start().clone_into(&mut entry.title),
                "Exec" => value.trim_start().clone_into(&mut entry.exec),
                "Terminal" => entry.terminal = value.trim() == "true",
                "Hidden" if value.trim() == "true" => return None,
                // Links and folders of the menu start nothing.
                "Type" if value.trim() != "Application" => return None,
                _ => {}
            }
        }
    }
    (!entry.exec.is_empty()).then_some(entry)
}

/// Words of an `Exec` line without its field codes (`%U` and the like).
pub(super) fn words(exec: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut begun = false;
    let mut quoted = false;
    let mut characters = exec.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                quoted = !quoted;
                begun = true;
            }
            '\\' if quoted => word.extend(characters.next()),
            // `%%` is a percent sign, everything else a field code.
            '%' => word.extend(characters.next().filter(|code| *code == '%')),
            ' ' | '\t' if !quoted => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            other => word.push(other),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quotes are taken off, field codes out.
    #[test]
    fn exec_lines_become_words() {
        assert_eq!(
            words(r#""/opt/my app/run" --new "a \"b\"" %U 100%%"#),
            ["/opt/my app/run", "--new", "a \"b\"", "100%"]
        );
        assert_eq!(words("prog %F"), ["prog"]);
    }
}
