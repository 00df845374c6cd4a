//! What the web view of Linux must find in its environment before it starts.

/// WebKitGTK draws through DMA-BUF where it can, which shows nothing with some drivers; without it
/// pictures take one more copy. A person who set the variable, to whatever, knows better.
#[cfg(target_os = "linux")]
const DMABUF: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
/// Draws without the graphics card at all.
#[cfg(target_os = "linux")]
const COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// Makes sure, first of all, that the process has a name, by which its windows are classed, and the
/// variable its web view needs. It starts itself again for that: changing the environment of a running
/// process is not safe, and the process stays the same.
///
/// # Errors
/// It could not be started again; then it goes on as it is.
#[cfg(target_os = "linux")]
pub fn start_as(name: &str) -> std::io::Result<()> {
    let first = std::env::args_os().next();
    if first.is_some_and(|first| first == name) && std::env::var_os(DMABUF).is_some() {
        return Ok(());
    }
    Err(again(Some(name), DMABUF)?)
}

/// Elsewhere nothing is missing.
#[cfg(not(target_os = "linux"))]
pub fn start_as(_name: &str) -> std::io::Result<()> {
    Ok(())
}

/// Becomes the same program, which draws without the graphics card. Returns only when that failed.
#[cfg(target_os = "linux")]
pub(super) fn start_safely() -> std::io::Error {
    again(None, COMPOSITING).unwrap_or_else(|error| error)
}

#[cfg(target_os = "linux")]
fn again(name: Option<&str>, variable: &str) -> std::io::Result<std::io::Error> {
    use std::os::unix::process::CommandExt as _;

    let mut arguments = std::env::args_os();
    let before = arguments.next().unwrap_or_default();
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command
        .arg0(name.map_or(before, Into::into))
        .args(arguments);
    if std::env::var_os(variable).is_none() {
        command.env(variable, "1");
    }
    Ok(command.exec())
}
