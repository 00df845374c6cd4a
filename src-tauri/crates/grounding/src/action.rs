//! What a call is about to do, in terms a policy can judge and a person can read.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One effect of a call, before it happens. Paths are absolute with links resolved as far as they exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// Reads a file or lists a folder.
    Read {
        /// What is read.
        path: PathBuf,
    },
    /// Creates or changes a file.
    Write {
        /// What is written.
        path: PathBuf,
        /// The old content is kept, so the change can be undone.
        keeps_copy: bool,
    },
    /// Removes a file or folder for good.
    Delete {
        /// What is removed.
        path: PathBuf,
    },
    /// Runs a command line.
    Command(ShellCommand),
    /// Starts a program with a window outside the sandbox, so that it can be seen and used.
    Launch(ProgramLaunch),
    /// Fetches an address.
    Fetch {
        /// The address.
        url: String,
    },
    /// Calls a tool of an MCP server.
    McpTool {
        /// Name of the server.
        server: String,
        /// Name of the tool there.
        tool: String,
        /// The server says that it only reads.
        read_only: bool,
    },
    /// Looks at or acts on a program's window.
    Screen {
        /// The program.
        app: ScreenApp,
        /// How far the action goes.
        access: Access,
    },
    /// Types into a terminal or a run dialog: as good as running it, without a sandbox.
    TypedCommand {
        /// The program that receives the text.
        app: ScreenApp,
        /// The text, control characters included.
        line: String,
    },
}

/// A command line as it would run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShellCommand {
    /// What the shell is given.
    pub line: String,
    /// Where.
    pub folder: PathBuf,
    /// It runs inside the sandbox.
    pub sandboxed: bool,
    /// It may open network connections.
    pub network: bool,
}

/// A program to be opened on the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramLaunch {
    /// The executable, resolved.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The program as [`Action::Screen`] will name it.
    pub app: ScreenApp,
    /// It is known to be an application with windows: the system's menu says so, or it shows one
    /// already. Shells, interpreters and terminals never are.
    #[serde(default)]
    pub graphical: bool,
}

/// A program with a window.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ScreenApp {
    /// Lower-case name of the executable or window class: `chromium`, `mousepad`; `desktop` for the
    /// bare screen; `unknown` where it cannot be told.
    pub name: String,
    /// Title of the window. Untrusted text: shown, never judged by.
    pub title: String,
    /// It runs what is typed into it (terminals, run dialogs).
    pub terminal: bool,
    /// It belongs to OpenSpace or waits for an answer to it: always off limits.
    pub own: bool,
}

/// How far an action on the screen goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Sees it.
    Look,
    /// Moves, clicks, scrolls.
    Click,
    /// Types and drags too.
    Full,
}
