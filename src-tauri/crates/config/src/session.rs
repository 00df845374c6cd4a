//! The desktop session, found when the environment does not name it.
//!
//! Hosts start us with a handful of variables, often without the display, its cookie or the bus. The
//! person's session is visible elsewhere: in the environment of its processes, as sockets of its
//! servers, as files in its runtime folder.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{Environment, System};

mod processes;

use processes::Process;

/// What a desktop session consists of, in the order it is reported.
const PARTS: [&str; 7] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
];

/// Where a value of the session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundIn {
    /// Our own environment.
    Environment,
    /// The environment of another process of this user.
    Process {
        /// Its id.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// A socket or file that is there.
    File(PathBuf),
}

/// A value of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The value.
    pub value: OsString,
    /// Where it comes from.
    pub origin: FoundIn,
}

/// The desktop session of this user, as far as there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DesktopSession {
    found: BTreeMap<&'static str, Found>,
    /// X displays that answer to nobody in particular; none was chosen.
    undecided: Vec<String>,
}

impl DesktopSession {
    /// The session on this machine.
    pub fn find(environment: &Environment) -> Self {
        Self::find_on(environment, &System::here())
    }

    /// The session as `system` tells. What `environment` names is kept, and the rest is taken from
    /// the same session only: two sessions are never mixed.
    pub fn find_on(environment: &Environment, system: &System) -> Self {
        let mut session = Self::default();
        for part in PARTS {
            if let Some(value) = environment.get(part) {
                session.put(part, value, FoundIn::Environment);
            }
        }
        if session.missing().next().is_some() {
            let screen_known = session.has_screen();
            if let Some(process) = session.witness(system) {
                session.take_from(&process);
            }
            session.take_from_files(environment, system, screen_known);
        }
        session
    }

    /// The X display, such as `:0`.
    pub fn display(&self) -> Option<&str> {
        self.text("DISPLAY")
    }

    /// The Wayland display, such as `wayland-0`.
    pub fn wayland_display(&self) -> Option<&str> {
        self.text("WAYLAND_DISPLAY")
    }

    /// The file with the cookies of X displays.
    pub fn xauthority(&self) -> Option<&Path> {
        self.found
            .get("XAUTHORITY")
            .map(|found| Path::new(&found.value))
    }

    /// Address of the session bus.
    pub fn bus(&self) -> Option<&str> {
        self.text("DBUS_SESSION_BUS_ADDRESS")
    }

    /// There is a display of either kind.
    pub fn has_screen(&self) -> bool {
        self.found.contains_key("DISPLAY") || self.found.contains_key("WAYLAND_DISPLAY")
    }

    /// X displays that are there while nothing says which one is the person's.
    pub fn undecided(&self) -> &[String] {
        &self.undecided
    }

    /// What was found, and where.
    pub fn found(&self) -> impl Iterator<Item = (&'static str, &Found)> {
        PARTS
            .iter()
            .filter_map(|part| Some((*part, self.found.get(part)?)))
    }

    /// The environment with what was found added to it, for whatever opens the screen or the bus.
    pub fn complete(&self, environment: &Environment) -> Environment {
        let mut complete = environment.clone();
        for (part, found) in &self.found {
            complete.insert(*part, &found.value);
        }
        complete
    }

    fn text(&self, part: &str) -> Option<&str> {
        self.found.get(part)?.value.to_str()
    }

    fn missing(&self) -> impl Iterator<Item = &'static str> {
        PARTS
            .into_iter()
            .filter(|part| !self.found.contains_key(part))
    }

    fn put(&mut self, part: &'static str, value: impl Into<OsString>, origin: FoundIn) {
        let value = value.into();
        self.found.entry(part).or_insert(Found { value, origin });
    }

    /// The process whose environment describes the session best.
    fn witness(&self, system: &System) -> Option<Process> {
        let known: Vec<_> = ["DISPLAY", "WAYLAND_DISPLAY"]
            .into_iter()
            .filter_map(|part| Some((part, self.found.get(part)?.value.clone())))
            .collect();
        let candidates = processes::of_user(system)
            .filter(|process| processes::has_live_screen(process, system))
            .filter(|process| {
                known
                    .iter()
                    .all(|(part, value)| process.environment.get(part) == Some(value))
            });
        processes::most_telling(candidates.collect())
    }

    fn take_from(&mut self, process: &Process) {
        for part in self.missing().collect::<Vec<_>>() {
            if let Some(value) = process.environment.get(part) {
                let origin = FoundIn::Process {
                    pid: process.pid,
                    name: process.name.clone(),
                };
                self.put(part, value, origin);
            }
        }
    }

    fn take_from_files(&mut self, environment: &Environment, system: &System, screen_known: bool) {
        if let Some(folder) = system.runtime() {
            self.put("XDG_RUNTIME_DIR", &folder, FoundIn::File(folder.clone()));
        }
        let runtime = self
            .found
            .get("XDG_RUNTIME_DIR")
            .map(|found| PathBuf::from(&found.value));
        if let Some(socket) = runtime.as_ref().map(|folder| folder.join("bus"))
            && socket.exists()
        {
            let mut address = OsString::from("unix:path=");
            address.push(&socket);
            self.put("DBUS_SESSION_BUS_ADDRESS", address, FoundIn::File(socket));
        }
        if !screen_known && !self.has_screen() {
            self.take_screen_from_sockets(system, runtime.as_deref());
        }
        if self.found.contains_key("DISPLAY") {
            self.take_cookies(environment, system, runtime.as_deref());
        }
    }

    /// Without a process to tell, a display is only taken when there is exactly one.
    fn take_screen_from_sockets(&mut self, system: &System, runtime: Option<&Path>) {
        let wayland: Vec<_> = runtime
            .map(|folder| {
                names(folder, |name| {
                    name.strip_prefix("wayland-")
                        .is_some_and(|number| number.parse::<u32>().is_ok())
                })
            })
            .unwrap_or_default();
        if let ([name], Some(folder)) = (wayland.as_slice(), runtime) {
            self.put("WAYLAND_DISPLAY", name, FoundIn::File(folder.join(name)));
        }
        let sockets = names(&system.x_sockets, |name| {
            name.strip_prefix('X')
                .is_some_and(|number| number.parse::<u32>().is_ok())
        });
        let displays = sockets.iter().map(|name| format!(":{}", &name[1..]));
        match sockets.as_slice() {
            [] => {}
            [only] => {
                let socket = system.x_sockets.join(only);
                self.put("DISPLAY", format!(":{}", &only[1..]), FoundIn::File(socket));
            }
            _ => self.undecided = displays.collect(),
        }
    }

    /// Where display managers put the cookies: the home folder, or the runtime folder (GDM, Mutter's
    /// Xwayland, SDDM).
    fn take_cookies(&mut self, environment: &Environment, system: &System, runtime: Option<&Path>) {
        let home = environment
            .get("HOME")
            .map(PathBuf::from)
            .or_else(|| system.home());
        let in_runtime = runtime.map(|folder| {
            let mut files = names(folder, |name| {
                name.starts_with(".mutter-Xwaylandauth.") || name.starts_with("xauth_")
            });
            files.insert(0, "gdm/Xauthority".to_owned());
            files
                .into_iter()
                .map(|name| folder.join(name))
                .collect::<Vec<_>>()
        });
        let files = in_runtime
            .unwrap_or_default()
            .into_iter()
            .chain(home.map(|folder| folder.join(".Xauthority")));
        if let Some(file) = files.into_iter().find(|file| file.is_file()) {
            self.put("XAUTHORITY", &file, FoundIn::File(file.clone()));
        }
    }
}

/// The home folder that other processes of this user were given.
pub(crate) fn home_of_others(system: &System) -> Option<PathBuf> {
    processes::of_user(system)
        .filter_map(|process| process.environment.get("HOME").map(PathBuf::from))
        .find(|home| home.is_absolute() && home.is_dir())
}

/// Sorted names in a folder that fit; none when it cannot be read.
fn names(folder: &Path, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| fits(name))
        .collect();
    names.sort();
    names
}
