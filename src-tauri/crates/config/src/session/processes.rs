//! What the environments of a user's other processes say.

use std::{collections::BTreeMap, ffi::OsString};

use crate::{Environment, System};

/// A process of this user.
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) name: String,
    pub(crate) environment: Environment,
}

/// All processes of this user but ourselves and what a run of ours started: a run may have a private
/// screen, which is not the person's.
pub(crate) fn of_user(system: &System) -> impl Iterator<Item = Process> {
    let uid = system.uid;
    std::fs::read_dir(&system.processes)
        .into_iter()
        .flatten()
        .filter_map(move |entry| {
            let folder = entry.ok()?.path();
            let pid: u32 = folder.file_name()?.to_str()?.parse().ok()?;
            if pid == std::process::id() || owner(&folder)? != uid? {
                return None;
            }
            let environment = parse(&std::fs::read(folder.join("environ")).ok()?);
            let name = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
            Some(Process {
                pid,
                name: name.trim_end().to_owned(),
                environment,
            })
        })
        .filter(|process| !process.environment.has("OPENSPACE_RUN_ID"))
}

/// The process names a display on this machine whose server is there.
pub(crate) fn has_live_screen(process: &Process, system: &System) -> bool {
    let x_display = process.environment.text("DISPLAY").is_some_and(|display| {
        // `:0` and `:0.1`; `host:10` is a display forwarded from elsewhere.
        display
            .strip_prefix(':')
            .and_then(|rest| rest.split('.').next())
            .is_some_and(|number| system.x_sockets.join(format!("X{number}")).exists())
    });
    let wayland = process
        .environment
        .get("WAYLAND_DISPLAY")
        .is_some_and(|name| {
            let folder = process
                .environment
                .get("XDG_RUNTIME_DIR")
                .map(std::path::PathBuf::from);
            folder
                .or_else(|| system.runtime())
                .is_some_and(|folder| folder.join(name).exists())
        });
    x_display || wayland
}

/// The process to believe: of the display that a desktop belongs to, else of the one most processes
/// use; within it the one that knows most.
pub(crate) fn most_telling(processes: Vec<Process>) -> Option<Process> {
    let mut screens: BTreeMap<(OsString, OsString), Vec<Process>> = BTreeMap::new();
    for process in processes {
        let part = |name| process.environment.get(name).unwrap_or_default().to_owned();
        let screen = (part("DISPLAY"), part("WAYLAND_DISPLAY"));
        screens.entry(screen).or_default().push(process);
    }
    // `max_by_key` takes the last of equals; reversed, the lowest display wins.
    let (_, members) = screens
        .into_iter()
        .rev()
        .max_by_key(|(_, members)| (members.iter().any(belongs_to_desktop), members.len()))?;
    members.into_iter().max_by_key(|process| {
        let known = super::PARTS
            .iter()
            .filter(|part| process.environment.has(part))
            .count();
        (
            belongs_to_desktop(process),
            known,
            std::cmp::Reverse(process.pid),
        )
    })
}

fn belongs_to_desktop(process: &Process) -> bool {
    [
        "XDG_CURRENT_DESKTOP",
        "DESKTOP_SESSION",
        "XDG_SESSION_DESKTOP",
    ]
    .iter()
    .any(|name| process.environment.has(name))
}

#[cfg(unix)]
fn owner(folder: &std::path::Path) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::uid(
        &std::fs::metadata(folder).ok()?,
    ))
}

#[cfg(not(unix))]
fn owner(_: &std::path::Path) -> Option<u32> {
    None
}

/// `NAME=value` separated by NUL, see proc(5).
#[cfg(unix)]
fn parse(bytes: &[u8]) -> Environment {
    use std::os::unix::ffi::OsStringExt;
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|pair| {
            let middle = pair.iter().position(|byte| *byte == b'=')?;
            let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            Some((text(&pair[..middle]), text(&pair[middle + 1..])))
        })
        .collect()
}

#[cfg(not(unix))]
fn parse(_: &[u8]) -> Environment {
    Environment::default()
}
