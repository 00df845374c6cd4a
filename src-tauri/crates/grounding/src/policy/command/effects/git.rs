//! git: what it loses, and where it runs commands of its own.

use super::{plain, value_of};
use crate::policy::command::{Unknown, programs::GIT_COMMAND_KEYS, walk::Walk, words::Value};

impl Walk<'_> {
    pub(super) fn git(&mut self, arguments: &[Value]) {
        let mut rest = arguments;
        while let Some((word, after)) = rest.split_first() {
            match word.text.as_str() {
                "-c" | "--config-env" => {
                    if let Some(setting) = after.first() {
                        self.git_setting(&setting.text.clone());
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                "-C" | "--git-dir" | "--work-tree" | "--exec-path" | "--namespace" => {
                    if word.text == "-C" {
                        // Only for this command; what follows in the line is judged by both folders.
                        let target = after.first().map(|folder| self.target(folder));
                        self.facts.reads.extend(target);
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                text if text.starts_with("--exec-path=") => {
                    self.facts.doubt(Unknown::Code);
                    rest = after;
                }
                text if text.starts_with("-c") && text.len() > 2 => {
                    self.git_setting(&text[2..]);
                    rest = after;
                }
                text if text.starts_with('-') => rest = after,
                _ => break,
            }
        }
        let Some((subcommand, arguments)) = rest.split_first() else {
            return;
        };
        let has = |options: &[&str]| {
            arguments
                .iter()
                .any(|word| options.contains(&word.text.as_str()))
        };
        let paths = plain(arguments, &["-m", "-b", "-B", "-s", "--source"]);
        let here = Value::known(".");
        match subcommand.text.as_str() {
            "clean" if !has(&["-n", "--dry-run"]) => self.delete(&here),
            "reset" if has(&["--hard", "--merge", "--keep"]) => self.delete(&here),
            "checkout"
                if has(&["-f", "--force", "--", "."])
                    || paths.iter().any(|path| path.text.ends_with('/')) =>
            {
                self.delete(&here);
            }
            "checkout"
                if paths.len() > 1
                    || paths
                        .iter()
                        .any(|path| self.place.paths.exists(&self.target(path).absolute())) =>
            {
                self.delete(&here);
            }
            "switch" if has(&["-f", "--force", "--discard-changes"]) => self.delete(&here),
            "restore" if !has(&["--staged"]) || has(&["--worktree"]) => self.delete(&here),
            "rm" if !has(&["--cached"]) => self.delete_all(&paths),
            "stash" if has(&["drop", "clear"]) => self.delete(&here),
            "branch" if has(&["-D", "-d", "--delete", "-M"]) => self.delete(&here),
            "tag" if has(&["-d", "--delete", "-f"]) => self.delete(&here),
            "push"
                if has(&[
                    "-f",
                    "--force",
                    "--force-with-lease",
                    "--delete",
                    "-d",
                    "--mirror",
                    "--prune",
                ]) || arguments.iter().any(|word| {
                    word.text.starts_with([':', '+']) || word.text.starts_with("--force")
                }) =>
            {
                self.delete(&Value::unknown());
            }
            "reflog" if has(&["expire", "delete"]) => self.delete(&here),
            "gc" if arguments
                .iter()
                .any(|word| word.text.starts_with("--prune")) =>
            {
                self.delete(&here);
            }
            "prune" | "filter-branch" | "filter-repo" | "update-ref" | "replace" => {
                self.delete(&here);
            }
            "worktree" if has(&["remove", "prune"]) => self.delete(&here),
            "config" => {
                // A setting with a command in it runs later, outside.
                let text: Vec<_> = paths.iter().map(|word| word.text.to_lowercase()).collect();
                if text
                    .iter()
                    .any(|key| GIT_COMMAND_KEYS.iter().any(|known| key.starts_with(known)))
                    && text.len() > 1
                {
                    self.facts.reach_out.push("git config".to_owned());
                }
            }
            "bisect" | "rebase" | "submodule" | "difftool" | "filter"
                if has(&["run", "-x", "--exec", "foreach"]) =>
            {
                let code = arguments
                    .iter()
                    .skip_while(|word| {
                        !matches!(word.text.as_str(), "run" | "-x" | "--exec" | "foreach")
                    })
                    .skip(1);
                let code = code
                    .map(|word| word.text.as_str())
                    .collect::<Vec<_>>()
                    .join(" ");
                self.nested_apart(&code);
            }
            "difftool" | "grep" => {
                for option in ["-x", "--extcmd", "-O", "--open-files-in-pager"] {
                    if let Some(code) = value_of(arguments, option) {
                        self.nested_apart(&code.text);
                    }
                }
            }
            _ => {}
        }
        for word in arguments {
            let text = word.text.as_str();
            if let Some(code) = text
                .strip_prefix("--upload-pack=")
                .or_else(|| text.strip_prefix("--receive-pack="))
                .or_else(|| text.strip_prefix("--exec="))
            {
                self.nested_apart(code);
            }
            if text.starts_with("ext::") {
                self.facts.doubt(Unknown::Code);
            }
        }
    }

    /// `git -c key=value`: some keys hold commands.
    fn git_setting(&mut self, setting: &str) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let key = key.to_lowercase();
        if GIT_COMMAND_KEYS.iter().any(|known| key.starts_with(known)) {
            self.nested_apart(value.strip_prefix('!').unwrap_or(value));
            self.facts.doubt(Unknown::Code);
        }
    }
}
