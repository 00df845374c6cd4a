//! What the web view of Linux must find in its environment before it starts.

#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt as _;

/// WebKitGTK draws through DMA-BUF where it can, which shows nothing with some drivers; without it
/// pictures take one more copy. A person who set the variable, to whatever, knows better.
#[cfg(target_os = "linux")]
const DMABUF: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
/// Draws without the graphics card at all.
#[cfg(target_os = "linux")]
const COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// Starts this program again under a name, by which its windows are classed, and with the variable
/// where it is not set: changing the environment of a running process is not safe, and the process
/// stays the same.
#[cfg(target_os = "linux")]
pub(crate) fn choose(name: &str) -> std::io::Result<()> {
    let named = std::env::args_os()
        .next()
        .is_some_and(|first| first == name);
    if named && std::env::var_os(DMABUF).is_some() {
        return Ok(());
    }
    Err(again(name, DMABUF)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn choose(_name: &str) -> std::io::Result<()> {
    Ok(())
}

/// Becomes the same program, which draws without the graphics card.
#[cfg(target_os = "linux")]
pub(crate) fn safely() -> std::io::Error {
    again(super::NAME, COMPOSITING).unwrap_or_else(|error| error)
}

#[cfg(target_os = "linux")]
fn again(name: &str, variable: &str) -> std::io::Result<std::io::Error> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.arg0(name).args(std::env::args_os().skip(1));
    if std::env::var_os(variable).is_none() {
        command.env(variable, "1");
    }
    // Returns only when it failed.
    Ok(command.exec())
}
