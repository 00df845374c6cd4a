//! Data folders to look at: `openspace-bench seed SCENE`, which obeys the variables of the program.
//!
//! Everything goes through the store as a runner writes it, at times of ours. It prints `ready` and
//! keeps what it claimed until its input ends: a run without a living process counts as interrupted.

mod busy;
mod gallery;
mod past;
mod recorded;
mod scene;
mod tasks;

use std::io::Read as _;

use anyhow::{Context as _, Result, bail};
use openspace_app::Environment;

const SCENES: &str =
    "scenes are `gallery`, `gallery controlled`, `tasks COUNT`, `steps COUNT` and `busy`";

/// Plants a scene.
pub(crate) fn plant(what: &[&str]) -> Result<()> {
    let paths = openspace_app::paths(&Environment::of_this_process())?;
    let number = |text: &str| text.parse::<u32>().context(SCENES);
    match what {
        ["gallery"] => {
            let _gallery = gallery::plant(&paths.data, None)?;
            hold("")
        }
        ["gallery", "controlled"] => {
            let _gallery = gallery::plant(&paths.data, Some(&paths.runtime))?;
            hold("")
        }
        ["tasks", count] => {
            tasks::plant(&paths.data, number(count)?)?;
            hold("")
        }
        ["steps", count] => {
            let (_scene, run) = busy::plant(&paths.data, number(count)?)?;
            hold(&run)
        }
        ["busy"] => busy::go_on(&paths.data, hold),
        _ => bail!(SCENES),
    }
}

/// Tells whoever started us that they can begin, and waits for them to end.
fn hold(note: &str) -> Result<()> {
    println!("ready {note}");
    // Nothing is ever written to it.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
