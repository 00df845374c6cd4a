//! What known programs do with their arguments.

use super::{Unknown, walk::Walk, words::Value};

mod git;
mod network;

impl Walk<'_> {
    /// Something is deleted.
    pub(crate) fn delete(&mut self, what: &Value) {
        let target = self.target(what);
        self.facts.deletes.push(target);
    }

    /// Something is written anew: lost if it is there, or if it cannot be told.
    pub(crate) fn overwrite(&mut self, what: &Value) {
        let target = self.target(what);
        if target.pattern || self.place.paths.exists(&target.absolute()) {
            self.facts.deletes.push(target);
        } else {
            self.facts.writes.push(target);
        }
    }

    fn write(&mut self, what: &Value) {
        let target = self.target(what);
        self.facts.writes.push(target);
    }

    pub(crate) fn effects(&mut self, name: &str, arguments: &[Value]) {
        self.reads(name, arguments);
        self.network(name, arguments);
        match name {
            "rm" | "rmdir" | "unlink" | "shred" | "del" | "erase" | "rd" | "srm" | "wipe"
            | "trash-empty" => {
                self.delete_all(&plain(arguments, &["-n", "-s", "--iterations", "--size"]));
            }
            "truncate" => {
                self.delete_all(&plain(arguments, &["-s", "-r", "--size", "--reference"]));
            }
            "dd" => {
                for word in arguments {
                    if let Some(file) = word.text.strip_prefix("of=") {
                        self.overwrite(&Value::known(file));
                    }
                }
            }
            "mv" | "cp" | "install" | "ln" | "rename" | "move" | "copy" => {
                self.transfer(name, arguments);
            }
            "rsync" => {
                if arguments.iter().any(|word| {
                    word.text.starts_with("--del") || word.text == "--remove-source-files"
                }) {
                    self.delete_all(&plain(arguments, &["-e", "--rsh"]));
                } else if let Some(last) = plain(arguments, &["-e", "--rsh", "-f"]).last() {
                    self.overwrite(last);
                }
                if let Some(position) = arguments
                    .iter()
                    .position(|word| matches!(word.text.as_str(), "-e" | "--rsh"))
                    && let Some(shell) = arguments.get(position + 1).cloned()
                {
                    self.nested(&shell.text);
                }
            }
            "tee" => {
                let append = flag(arguments, 'a', "--append");
                for file in plain(arguments, &[]) {
                    if append {
                        self.write(&file);
                    } else {
                        self.overwrite(&file);
                    }
                }
            }
            "sed" | "gsed" => self.sed(arguments),
            "sort" => self.option_files(arguments, &["-o", "--output"]),
            "curl" => {
                self.option_files(
                    arguments,
                    &[
                        "-o",
                        "--output",
                        "-D",
                        "--dump-header",
                        "-c",
                        "--cookie-jar",
                        "--trace",
                        "--trace-ascii",
                        "--stderr",
                    ],
                );
                // Configuration files hold addresses and outputs of their own.
                if arguments
                    .iter()
                    .any(|word| word.text == "-K" || word.text.starts_with("--config"))
                {
                    self.facts.doubt(Unknown::Code);
                }
            }
            "wget" => self.option_files(
                arguments,
                &["-O", "--output-document", "-o", "--output-file"],
            ),
            "mkdir" | "touch" | "mktemp" | "mkfifo" | "mknod" => {
                for file in plain(
                    arguments,
                    &[
                        "-m",
                        "-t",
                        "-d",
                        "-r",
                        "--mode",
                        "--date",
                        "--reference",
                        "-p",
                    ],
                ) {
                    self.write(&file);
                }
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
                for file in plain(arguments, &[]).into_iter().skip(1) {
                    self.write(&file);
                }
            }
            "patch" => self.write(&Value::known(".")),
            "unzip"
                if flag(arguments, 'o', "--overwrite") => {
                    self.delete(&Value::unknown());
                }
            "tar" | "bsdtar" | "gtar" => self.tar(arguments),
            "git" => self.git(arguments),
            "hg" | "svn" | "jj"
                if arguments.iter().any(|word| {
                    matches!(
                        word.text.as_str(),
                        "revert" | "purge" | "cleanup" | "strip" | "abandon"
                    )
                }) => {
                    self.delete(&Value::known("."));
                }
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "helm" | "terraform" | "tofu"
            | "vagrant" | "virsh" | "aws" | "gcloud" | "az" | "gsutil" | "gh" | "rclone"
            | "s3cmd"
                if arguments.iter().any(|word| {
                    matches!(
                        word.text.as_str(),
                        "rm" | "rmi"
                            | "prune"
                            | "delete"
                            | "destroy"
                            | "purge"
                            | "uninstall"
                            | "undefine"
                            | "rb"
                            | "sync"
                            | "move"
                            | "down"
                            | "kill"
                            | "apply"
                            | "del"
                    )
                }) => {
                    self.delete(&Value::unknown());
                }
            "npm" | "pnpm" | "yarn" | "cargo" | "twine" | "gem" | "dotnet" | "poetry" | "uv"
                // What was published is out.
                if arguments.iter().any(|word| {
                    matches!(
                        word.text.as_str(),
                        "publish" | "unpublish" | "yank" | "push" | "upload"
                    )
                }) => {
                    self.delete(&Value::unknown());
                }
            "mkfs" | "wipefs" | "fdisk" | "sfdisk" | "gdisk" | "parted" | "blkdiscard"
            | "mkswap" | "hdparm" | "format" | "dropdb" | "dropuser" | "diskutil" => {
                self.delete(&Value::unknown());
            }
            "crontab"
                if flag(arguments, 'r', "--remove") => {
                    self.delete(&Value::unknown());
                }
            "kill" => {
                let harmless = |word: &Value| {
                    matches!(word.text.as_str(), "$!" | "-l" | "-L" | "-0")
                        || word.text.starts_with('%')
                };
                let target = arguments.last();
                let only_looks = arguments
                    .first()
                    .is_some_and(|word| matches!(word.text.as_str(), "-0" | "-l" | "-L"));
                if !only_looks && !target.is_some_and(harmless) {
                    self.facts.reach_out.push(name.to_owned());
                }
            }
            "nohup" | "setsid" | "disown" | "daemonize" => self.facts.background = true,
            "make" | "gmake" | "ninja" | "just" | "rake"
                if arguments
                    .iter()
                    .any(|word| word.text.starts_with("SHELL=") || word.text.starts_with("--eval"))
                => {
                    self.facts.doubt(Unknown::Code);
                }
            "man" | "less" | "more" | "bat" => {
                for option in ["-P", "--pager"] {
                    if let Some(code) = value_of(arguments, option) {
                        self.nested(&code.text);
                    }
                }
            }
            "zip" => {
                if let Some(code) =
                    value_of(arguments, "-TT").or_else(|| value_of(arguments, "--unzip-command"))
                {
                    self.nested(&code.text);
                }
            }
            _ if name.starts_with("mkfs.") => self.delete(&Value::unknown()),
            _ => {}
        }
    }

    fn delete_all(&mut self, files: &[Value]) {
        if files.is_empty() {
            // From a list, or from its standard input: which cannot be told.
            self.delete(&Value::unknown());
        }
        for file in files {
            self.delete(file);
        }
    }

    /// Arguments that name something there, or read like a path, are read.
    fn reads(&mut self, name: &str, arguments: &[Value]) {
        if matches!(
            name,
            "echo" | "printf" | "rm" | "rmdir" | "mkdir" | "touch" | "kill" | "test" | "["
        ) {
            return;
        }
        for word in arguments {
            if word.text.starts_with('-') || word.text.contains("://") || word.text.is_empty() {
                continue;
            }
            let target = self.target(word);
            let there = !target.pattern && self.place.paths.exists(&target.absolute());
            if there
                || (target.pattern
                    && word.text.contains('/')
                    && word.text.starts_with(['/', '.', '~']))
            {
                self.facts.reads.push(target);
            }
        }
    }

    fn transfer(&mut self, name: &str, arguments: &[Value]) {
        let valued = [
            "-t",
            "--target-directory",
            "-S",
            "--suffix",
            "-m",
            "--mode",
            "-o",
            "-g",
            "--owner",
            "--group",
        ];
        let mut files = plain(arguments, &valued);
        let into = value_of(arguments, "-t").or_else(|| value_of(arguments, "--target-directory"));
        let keeps = flag(arguments, 'n', "--no-clobber") || flag(arguments, 'b', "--backup");
        let whole = flag(arguments, 'T', "--no-target-directory");
        let Some(last) = into.clone().or_else(|| files.pop()) else {
            return;
        };
        if matches!(name, "mv" | "move" | "rename") {
            for file in &files {
                let target = self.target(file);
                self.facts.moves.push(target);
            }
        }
        if name == "ln" && !flag(arguments, 'f', "--force") {
            return self.write(&last);
        }
        if keeps {
            return self.write(&last);
        }
        let target = self.target(&last);
        let folder = into.is_some()
            || (!whole && !target.pattern && self.place.paths.is_folder(&target.absolute()));
        if target.pattern || !folder {
            return self.overwrite(&last);
        }
        for file in files {
            let base = file
                .text
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or_default();
            if file.glob || matches!(base, "." | ".." | "") {
                self.delete(&Value {
                    text: format!("{}/{base}", last.text),
                    glob: true,
                });
                continue;
            }
            let inside = Value {
                text: format!("{}/{base}", last.text),
                glob: file.glob,
            };
            self.overwrite(&inside);
        }
    }

    fn sed(&mut self, arguments: &[Value]) {
        let in_place = arguments.iter().any(|word| {
            word.text.starts_with("--in-place")
                || (word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && word.text.contains('i'))
        });
        let mut rest = plain(arguments, &["-e", "-f", "-l", "--expression", "--file"]);
        let mut scripts: Vec<Value> = ["-e", "--expression"]
            .iter()
            .filter_map(|option| value_of(arguments, option))
            .collect();
        if scripts.is_empty() && !rest.is_empty() {
            scripts.push(rest.remove(0));
        }
        for script in &scripts {
            // GNU sed: `e` runs commands, `s///e` too, `w` writes files.
            let runs = script.text.trim_start().starts_with('e')
                || script
                    .text
                    .split([';', '\n', '/', '|', '#', ',', '}'].as_slice())
                    .any(|part| {
                        let part = part.trim();
                        part.starts_with("e ")
                            || (part.len() <= 4
                                && part.contains('e')
                                && part
                                    .chars()
                                    .all(|letter| "gpiImMe0123456789".contains(letter)))
                    });
            if runs {
                self.facts.doubt(Unknown::Code);
            }
        }
        if in_place {
            for file in rest {
                self.overwrite(&file);
            }
        }
    }

    fn option_files(&mut self, arguments: &[Value], options: &[&str]) {
        for (position, word) in arguments.iter().enumerate() {
            for option in options {
                let value = if word.text == *option {
                    arguments.get(position + 1).cloned()
                } else if option.starts_with("--") {
                    word.text
                        .strip_prefix(&format!("{option}="))
                        .map(Value::known)
                } else {
                    word.text
                        .strip_prefix(option)
                        .filter(|_| !word.text.starts_with("--"))
                        .map(Value::known)
                };
                if let Some(value) =
                    value.filter(|value| value.text != "-" && value.text != "/dev/null")
                {
                    self.overwrite(&value);
                }
            }
        }
    }

    fn tar(&mut self, arguments: &[Value]) {
        for (position, word) in arguments.iter().enumerate() {
            let text = word.text.as_str();
            let next = arguments.get(position + 1);
            let code = [
                "--checkpoint-action=exec=",
                "--checkpoint-action=",
                "--to-command=",
                "--use-compress-program=",
                "--rsh-command=",
                "--info-script=",
                "--new-volume-script=",
            ]
            .iter()
            .find_map(|option| text.strip_prefix(option).map(Value::known))
            .or_else(|| {
                matches!(
                    text,
                    "--to-command"
                        | "--use-compress-program"
                        | "-I"
                        | "-F"
                        | "--info-script"
                        | "--checkpoint-action"
                        | "--rsh-command"
                )
                .then(|| next.cloned())
                .flatten()
            });
            if let Some(code) = code {
                let code = code
                    .text
                    .strip_prefix("exec=")
                    .unwrap_or(&code.text)
                    .to_owned();
                self.nested_apart(&code);
            }
            if matches!(
                text,
                "--remove-files"
                    | "--overwrite"
                    | "--recursive-unlink"
                    | "--unlink-first"
                    | "--delete"
            ) {
                self.delete(&Value::unknown());
            }
        }
        let mode = arguments
            .first()
            .map(|word| word.text.trim_start_matches('-').to_owned())
            .unwrap_or_default();
        let file = value_of(arguments, "-f")
            .or_else(|| value_of(arguments, "--file"))
            .or_else(|| {
                (!mode.starts_with('-') && mode.contains('f'))
                    .then(|| arguments.get(1).cloned())
                    .flatten()
            });
        if mode.contains('c')
            && let Some(file) = file.filter(|file| file.text != "-")
        {
            self.overwrite(&file);
        }
    }
}

/// Arguments that are not options, nor the values of those listed.
fn plain(arguments: &[Value], valued: &[&str]) -> Vec<Value> {
    let mut plain = Vec::new();
    let mut words = arguments.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if options && text == "--" {
            options = false;
        } else if options && text.starts_with('-') && text.len() > 1 {
            if valued.contains(&text) {
                words.next();
            }
        } else {
            plain.push(word.clone());
        }
    }
    plain
}

fn value_of(arguments: &[Value], option: &str) -> Option<Value> {
    arguments.iter().enumerate().find_map(|(position, word)| {
        if word.text == option {
            return arguments.get(position + 1).cloned();
        }
        let rest = word.text.strip_prefix(option)?;
        if option.starts_with("--") {
            rest.strip_prefix('=').map(Value::known)
        } else {
            (!rest.is_empty()).then(|| Value::known(rest))
        }
    })
}

fn flag(arguments: &[Value], short: char, long: &str) -> bool {
    arguments.iter().any(|word| {
        word.text.starts_with(long)
            || (word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word.text.contains(short))
    })
}
