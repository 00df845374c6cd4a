//! The screen: how long it takes to see, to act, and to stop.

mod act;
mod idle;
mod mask;
mod see;
mod step;
mod stop;

#[cfg(feature = "portable")]
pub(crate) use see::time_portable;

use anyhow::Result;
use openspace_gui::platform::{self, Platform};
use openspace_testkit::{Options, TestScreen};

use crate::{Effort, figure::Report};

/// Every figure of the screen.
pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    let full_hd = TestScreen::start(Options::sized(1920, 1080))?;
    let ultra_hd = TestScreen::start(Options::sized(3840, 2160))?;
    see::measure(&full_hd, "1080p", &see::STANDARD, effort, report)?;
    see::measure(&ultra_hd, "4k", &see::LARGE, effort, report)?;
    mask::measure(&full_hd, effort, report)?;
    act::measure_clicks(&full_hd, effort, report)?;
    // The sizes of case D-01 with the standard class, and 4K with the large one.
    let odd = [(2560, 1440), (3440, 1440), (1080, 1920)]
        .map(|(width, height)| TestScreen::start(Options::sized(width, height)));
    let [wide, wider, tall] = odd;
    let (wide, wider, tall) = (wide?, wider?, tall?);
    act::measure_error(
        &[
            (&wide, &see::STANDARD),
            (&wider, &see::STANDARD),
            (&tall, &see::STANDARD),
            (&full_hd, &see::STANDARD),
            (&ultra_hd, &see::LARGE),
        ],
        report,
    )?;
    act::measure_typing(&full_hd, report)?;
    step::measure(&full_hd, effort, report)?;
    stop::measure(&full_hd, effort, report)?;
    crate::store::measure(effort, report)?;
    idle::measure(&full_hd, report)?;
    Ok(())
}

/// Our own way to a private screen.
fn open(screen: &TestScreen) -> Result<Platform> {
    Ok(platform::open(&options(screen))?)
}

/// The ring around the place of a click.
fn ring(screen: &TestScreen) -> Result<platform::RingWindow> {
    let options = options(screen);
    let (display, authority) = (screen.display(), options.authority.as_deref());
    Ok(platform::RingWindow::open(
        &display, authority, 0x9A_34_12, "ring",
    )?)
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
