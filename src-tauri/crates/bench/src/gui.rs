//! The screen: how long it takes to see, to act, and to stop.

mod act;
mod see;
mod stop;

use anyhow::Result;
use openspace_gui::platform::{self, Platform};
use openspace_testkit::{Options, TestScreen};

use crate::{
    Effort,
    figure::{Report, missing},
};

/// Every figure of the screen.
pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    let full_hd = TestScreen::start(Options::sized(1920, 1080))?;
    let ultra_hd = TestScreen::start(Options::sized(3840, 2160))?;
    see::measure(&full_hd, "1080p", &see::STANDARD, effort, report)?;
    see::measure(&ultra_hd, "4k", &see::LARGE, effort, report)?;
    act::measure_clicks(&full_hd, effort, report)?;
    act::measure_error(
        &[(&full_hd, &see::STANDARD), (&ultra_hd, &see::LARGE)],
        report,
    )?;
    act::measure_typing(&full_hd, report)?;
    act::measure_steps(&full_hd, effort, report)?;
    stop::measure(&full_hd, effort, report)?;
    missing(
        "idle_run_rss_mib",
        "the runner is not measured from here yet",
    );
    Ok(())
}

/// Our own way to a private screen.
fn open(screen: &TestScreen) -> Result<Platform> {
    Ok(platform::open(&options(screen))?)
}

fn options(screen: &TestScreen) -> platform::Options {
    platform::Options {
        display: Some(screen.display()),
        authority: screen.environment().get("XAUTHORITY").map(Into::into),
        wayland: false,
        // An address nobody listens on: the accessibility tree is not measured here.
        session_bus: Some("disabled:".to_owned()),
    }
}
