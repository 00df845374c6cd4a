//! Which settings of git run something.
//!
//! From the list of variables in git-config(1) (git 2.47) and the pages it refers to
//! (gitattributes(5), git-difftool(1), git-mergetool(1), git-send-email(1), git-web--browse(1),
//! git-interpret-trailers(1), gitsubmodules(7)), hooks in settings (git 2.54) and git-lfs-config(5).
//! Names git may get in the future are recognised by how the present ones end.

use std::path::{Component, Path, PathBuf};

use super::git_config::Entry;

/// Their value is a command, or leads to more settings or hooks.
const WHOLE: &[&str] = &[
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.gitproxy",
    "core.hookspath",
    "core.pager",
    "core.sshcommand",
    "diff.external",
    "gc.recentobjectshook",
    "help.browser",
    "imap.tunnel",
    "init.templatedir",
    "instaweb.browser",
    "instaweb.httpd",
    "instaweb.modulepath",
    "interactive.difffilter",
    "man.viewer",
    "sendemail.smtpserver",
    "sequence.editor",
    "uploadpack.packobjectshook",
    "web.browser",
];

/// Section and name; what stands between them is the name of a tool, a driver or an address.
const NAMED: &[(&str, &str)] = &[
    ("browser", "path"),
    ("difftool", "path"),
    ("filter", "clean"),
    ("filter", "process"),
    ("filter", "smudge"),
    ("include", "path"),
    ("includeif", "path"),
    ("lfs", "args"),
    ("lfs", "clean"),
    ("lfs", "path"),
    ("lfs", "smudge"),
    ("lfs", "standalonetransferagent"),
    ("man", "path"),
    ("mergetool", "path"),
    // Run here when the remote repository is a folder of this machine.
    ("remote", "receivepack"),
    ("remote", "uploadpack"),
    ("remote", "vcs"),
];

/// Allow transports that run commands (`protocol.ext.allow`).
const PROTOCOL: &str = "protocol";

/// How names end whose value is a command, whatever their section.
const ENDINGS: &[&str] = &[
    "askpass",
    "cmd",
    "command",
    "driver",
    "editor",
    "helper",
    "hook",
    "hookspath",
    "pager",
    "prog",
    "program",
    "textconv",
    "tunnel",
];

/// These look like it and only say yes or no, or a name.
const HARMLESS: &[&str] = &["color.pager"];

impl Entry {
    /// It makes git run something, or leads git somewhere else. `folder` is the git folder the
    /// setting belongs to, `roots` are the folders a command may write.
    pub(crate) fn runs_something(&self, folder: &Path, roots: &[PathBuf]) -> bool {
        let (section, rest) = self.key.split_once('.').unwrap_or(("", &self.key));
        let name = rest.rsplit('.').next().unwrap_or(rest);
        let value = self.value.as_deref().unwrap_or("true");
        if HARMLESS.contains(&self.key.as_str()) {
            return false;
        }
        // Where a command is one of several things a value can be, this is how it begins; the
        // others are addresses whose transport is a command.
        if value.starts_with('!') || value.starts_with("ext::") || value.starts_with("fd::") {
            return true;
        }
        match section {
            "alias" => return !is_plain_alias(value),
            "pager" => return !is_yes_or_no(value),
            PROTOCOL => return true,
            "url" => return rest.contains("ext::") || rest.contains("fd::"),
            _ => {}
        }
        match self.key.as_str() {
            // `true` starts git's own, not a program.
            "core.fsmonitor" => return !is_yes_or_no(value),
            "core.worktree" => return leaves(folder, value, roots),
            _ => {}
        }
        WHOLE.contains(&self.key.as_str())
            || NAMED.contains(&(section, name))
            || ENDINGS.iter().any(|ending| name.ends_with(ending))
    }

    /// The folder hooks are taken from, where this setting says it. `work` is the work tree.
    pub(crate) fn hook_folder(&self, work: &Path) -> Option<PathBuf> {
        let value = self.value.as_deref()?;
        (self.key == "core.hookspath" && !value.is_empty()).then(|| work.join(value))
    }
}

fn is_yes_or_no(value: &str) -> bool {
    ["true", "false", "yes", "no", "on", "off", "1", "0", ""]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word))
}

/// A subcommand and options without values: `commit -v`, `log --oneline --graph`. Values may be
/// commands (`rebase -x`), so everything with one counts as running something.
fn is_plain_alias(value: &str) -> bool {
    let letters = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '-')
    };
    let mut words = value.split_whitespace();
    let named = words
        .next()
        .is_some_and(|word| letters(word) && !word.starts_with('-'));
    named
        && words.all(|word| match word.strip_prefix("--") {
            Some(option) => letters(option),
            None => word.len() == 2 && word.starts_with('-'),
        })
}

/// Outside of what a command may write, a work tree would be overwritten by the next checkout.
fn leaves(folder: &Path, value: &str, roots: &[PathBuf]) -> bool {
    let mut plain = PathBuf::new();
    for part in folder.join(value).components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    value.starts_with('~') || !roots.iter().any(|root| plain.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::super::git_config::parse;
    use super::*;

    fn runs(text: &str) -> bool {
        let entries = parse(text.as_bytes()).expect("parses");
        assert_eq!(entries.len(), 1, "{text}");
        entries[0].runs_something(Path::new("/work/a/.git"), &[PathBuf::from("/work")])
    }

    /// What runs something is known, however it is written.
    #[test]
    fn commands_are_known() {
        for text in [
            "[core]\nhooksPath = x",
            "[core]\nfsmonitor = ./x",
            "[Core]\nSSHCommand = x",
            "[core]\neditor = x",
            "[core]\npager = x",
            "[core]\ngitProxy = x",
            "[core]\nworktree = /home/ana",
            "[core]\nworktree = ../../../home",
            "[sequence]\neditor = x",
            "[alias]\nst = !x",
            "[alias]\nst = rebase -x reboot",
            "[alias]\nst = -c core.pager=x log",
            "[alias]\nst = rebase -xreboot",
            "[filter \"a.b\"]\nclean = x",
            "[diff \"a\"]\ntextconv = x",
            "[diff \"a\"]\ncommand = x",
            "[diff]\nexternal = x",
            "[difftool \"a\"]\ncmd = x",
            "[merge \"a\"]\ndriver = x",
            "[mergetool \"a\"]\npath = x",
            "[credential]\nhelper = store",
            "[credential \"https://example.org\"]\nhelper = x",
            "[gpg]\nprogram = x",
            "[gpg \"ssh\"]\ndefaultKeyCommand = x",
            "[include]\npath = x",
            "[includeIf \"gitdir:/\"]\npath = x",
            "[pager]\nlog = x",
            "[protocol \"ext\"]\nallow = always",
            "[remote \"a\"]\nuploadpack = x",
            "[remote \"a\"]\nurl = ext::sh -c x",
            "[submodule \"a\"]\nupdate = !x",
            "[tar \"x\"]\ncommand = x",
            "[trailer \"x\"]\ncmd = x",
            "[hook \"x\"]\ncommand = x",
            "[something]\nnewCommand = x",
        ] {
            assert!(runs(text), "{text}");
        }
    }

    /// What git itself writes into new repositories, clones and submodules runs nothing.
    #[test]
    fn everyday_settings_are_harmless() {
        for text in [
            "[core]\nrepositoryformatversion = 0",
            "[core]\nfilemode = true",
            "[core]\nbare = false",
            "[core]\nlogallrefupdates = true",
            "[core]\nfsmonitor = true",
            "[core]\nworktree = ../../lib",
            "[remote \"origin\"]\nurl = https://example.org/a.git",
            "[remote \"origin\"]\nfetch = +refs/heads/*:refs/remotes/origin/*",
            "[remote \"origin\"]\npartialclonefilter = blob:none",
            "[branch \"main\"]\nremote = origin",
            "[branch \"main\"]\nmerge = refs/heads/main",
            "[user]\nname = Ana",
            "[submodule \"a\"]\nurl = ../a",
            "[alias]\nst = status",
            "[alias]\nlg = log --oneline --graph -n",
            "[pager]\nlog = false",
            "[color]\npager = true",
            "[pull]\nrebase = true",
            "[extensions]\nworktreeConfig = true",
            "[merge]\nconflictStyle = zdiff3",
        ] {
            assert!(!runs(text), "{text}");
        }
    }
}
