//! What the web view of Linux must find in its environment before it starts.

#[cfg(target_os = "linux")]
use crate::{
    Configuration, Environment,
    doctor::graphics::{COMPOSITING, DMABUF, Graphics, OURS},
};

/// Variables to change before the web view starts; none for one that has to go.
#[cfg(target_os = "linux")]
type Changes = Vec<(&'static str, Option<&'static str>)>;

/// Makes sure, first of all, that the process has a name, by which its windows are classed, and the
/// variables its web view needs. It starts itself again for that: changing the environment of a running
/// process is not safe, and the process stays the same.
///
/// # Errors
/// It could not be started again; then it goes on as it is.
#[cfg(target_os = "linux")]
pub fn start_as(practises: bool) -> std::io::Result<()> {
    // How the window system classes our windows; no run may use those of the app.
    let name = ["openspace-desktop", "openspace-practice"][usize::from(practises)];
    let environment = Environment::of_this_process();
    // Wrong settings are told where there is a window to tell them.
    let safe = Configuration::read_or_default(&environment)
        .is_ok_and(|(read, _)| read.settings.values.desktop.safe_graphics);
    let changes = changes(&environment, safe);
    let first = std::env::args_os().next();
    if first.is_some_and(|first| first == name) && changes.is_empty() {
        return Ok(());
    }
    Err(again(Some(name), &changes)?)
}

/// Elsewhere nothing is missing.
#[cfg(not(target_os = "linux"))]
pub fn start_as(_practises: bool) -> std::io::Result<()> {
    Ok(())
}

/// Becomes the same program anew. Returns only when that failed.
#[cfg(target_os = "linux")]
pub(super) fn start_again() -> std::io::Error {
    again(None, &Vec::new()).unwrap_or_else(|error| error)
}

/// The same without the graphics card, where that could not be kept in the settings: as if a person had
/// set the variable.
#[cfg(target_os = "linux")]
pub(super) fn start_safely() -> std::io::Error {
    again(None, &vec![(COMPOSITING, Some("1"))]).unwrap_or_else(|error| error)
}

#[cfg(target_os = "linux")]
fn changes(environment: &Environment, safe: bool) -> Changes {
    let mut changes = Changes::new();
    if environment.text(DMABUF).is_none() {
        changes.push((DMABUF, Some("1")));
    }
    match (Graphics::of(environment), safe) {
        (Graphics::Usual, true) => changes.push((COMPOSITING, Some(OURS))),
        (Graphics::Safe, false) => changes.push((COMPOSITING, None)),
        _ => {}
    }
    changes
}

#[cfg(target_os = "linux")]
fn again(name: Option<&str>, changes: &Changes) -> std::io::Result<std::io::Error> {
    use std::os::unix::process::CommandExt as _;

    let mut arguments = std::env::args_os();
    let before = arguments.next().unwrap_or_default();
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command
        .arg0(name.map_or(before, Into::into))
        .args(arguments);
    for (variable, value) in changes {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    Ok(command.exec())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The process starts again until everything is as it should be, and never without end.
    #[test]
    fn nothing_is_missing_the_second_time() {
        for (before, safe) in [
            (None, false),
            (None, true),
            (Some("0"), true),
            (Some("1"), false),
            (Some(OURS), false),
        ] {
            let mut environment = Environment::default();
            if let Some(before) = before {
                environment.insert(COMPOSITING, before);
            }
            let first = changes(&environment, safe);
            assert!(first.contains(&(DMABUF, Some("1"))));
            for (variable, value) in first {
                match value {
                    Some(value) => environment.insert(variable, value),
                    None => environment.remove(variable),
                }
            }
            assert_eq!(changes(&environment, safe), [], "{before:?} {safe}");
            let draws = Graphics::of(&environment);
            let is_safe = draws != Graphics::Usual;
            assert_eq!(is_safe, safe || before == Some("1"), "{before:?} {safe}");
        }
    }
}
