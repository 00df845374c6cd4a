//! Typing something that must not be seen.

use std::io::Write as _;

use openspace_app::{Code, Failure, Secret};

use crate::terminal::Terminal;

/// Whether there is a terminal to ask on.
pub(crate) fn can_ask() -> bool {
    Terminal::open().is_some()
}

/// Asks on the terminal and shows nothing of the answer. `None` when the person gives up with Ctrl-C
/// or Ctrl-D, or the terminal is closed.
pub(crate) async fn ask(prompt: String) -> Result<Option<Secret<String>>, Failure> {
    let asked = tokio::task::spawn_blocking(move || ask_here(&prompt)).await;
    asked
        .map_err(std::io::Error::other)
        .and_then(std::convert::identity)
        .map_err(|error| {
            Failure::new(
                Code::InvalidRequest,
                format!("the terminal cannot be read: {error}"),
            )
        })
}

fn ask_here(prompt: &str) -> std::io::Result<Option<Secret<String>>> {
    let Some(mut terminal) = Terminal::open() else {
        return Ok(None);
    };
    let typed = terminal.secret(&format!("{prompt}: "))?;
    writeln!(terminal)?;
    Ok(typed.map(Secret::new))
}
