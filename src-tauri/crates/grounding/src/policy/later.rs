//! Files that make something run later, outside any sandbox.

use std::path::Path;

use super::Paths;

/// Such files, by the end of their path or a folder in it. What lies inside a git folder is told by
/// [`runs_later`].
pub const RUNS_LATER: &[&str] = &[
    ".husky",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".xinitrc",
    ".pam_environment",
    ".config/fish",
    ".config/autostart",
    ".config/environment.d",
    ".config/systemd",
    ".config/git",
    ".gitconfig",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".config/plasma-workspace",
    "Library/LaunchAgents",
    "Programs/Startup",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".idea/runConfigurations",
    ".vimrc",
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    ".tmux.conf",
    ".local/bin",
];

/// What git reads from a git folder that can make it run something: hooks, settings, and the file
/// that leads to another git folder with both. Submodules and worktrees have theirs further down.
const IN_GIT_FOLDER: &[&str] = &["hooks", "config", "config.worktree", "commondir"];

/// Something else will run this file, or what is written in it.
pub fn runs_later(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let listed = RUNS_LATER.iter().any(|ending| {
        let ending: Vec<_> = ending.split('/').collect();
        parts
            .windows(ending.len())
            .any(|window| window.iter().zip(&ending).all(|(part, name)| part == name))
    });
    listed || in_git_folder(&parts)
}

fn in_git_folder(parts: &[std::borrow::Cow<'_, str>]) -> bool {
    let Some(git) = parts.iter().position(|part| part == ".git") else {
        return false;
    };
    let inside = &parts[git + 1..];
    match inside.first().map(AsRef::as_ref) {
        Some("modules" | "worktrees") => inside
            .iter()
            .any(|part| IN_GIT_FOLDER.contains(&part.as_ref())),
        Some(first) => IN_GIT_FOLDER.contains(&first),
        // The folder itself, or the file that leads to another one.
        None => true,
    }
}

/// The file belongs to a folder that is, or by this file becomes, laid out like a git folder without
/// being called one: git uses it as soon as somebody changes into it.
pub(crate) fn in_bare_repository(path: &Path, paths: &dyn Paths) -> bool {
    let is_named = |path: &Path, names: &[&str]| {
        path.file_name()
            .is_some_and(|name| names.iter().any(|wanted| name == *wanted))
    };
    let beside = |path: &Path, name: &str| {
        path.parent()
            .is_some_and(|folder| paths.exists(&folder.join(name)))
    };
    let inside = path
        .ancestors()
        .any(|part| is_named(part, IN_GIT_FOLDER) && beside(part, "HEAD"));
    let completes =
        is_named(path, &["HEAD"]) && IN_GIT_FOLDER.iter().any(|name| beside(path, name));
    inside || completes
}
