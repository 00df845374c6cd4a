//! What it costs to leave the windows of the app out of a picture.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use openspace_app::ours;
use openspace_gui::{MaskedScreen, Owner, Screen};
use openspace_store::Store;
use openspace_testkit::{GtkTarget, RawTarget, TestScreen, screen::Rect, target::Window};

use super::see::primary;
use crate::{
    Effort,
    figure::{Report, percentile},
    store::register,
};

/// A capture with a window of this process left out, by a capture as it comes. A window of another
/// program lies above it, so that what hides what is asked for every time.
pub(crate) fn measure(screen: &TestScreen, effort: Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path())?;
    let _alive = register(&store)?;
    let mut app = Window::new(Rect::new(320, 120, 1280, 832));
    // What the window manager does not manage stays above all that it does.
    app.unmanaged = false;
    let _app = RawTarget::start(screen, app)?;
    let _other = GtkTarget::start(screen)?;
    let own = super::open(screen)?;
    let monitor = primary(&*own.screen)?;
    let this = |owner: Owner<'_>| owner.pid == Some(std::process::id());
    let covers = own.screen.covers(&this)?;
    ensure!(
        covers.iter().any(|cover| cover.seen.len() > 1),
        "something lies above it: {covers:?}"
    );
    let masked = MaskedScreen::new(Arc::clone(&own.screen), ours(store));
    let (mut plain, mut left_out) = (Vec::new(), Vec::new());
    let once = |screen: &dyn Screen| -> Result<(Duration, bool)> {
        let started = Instant::now();
        let capture = screen.capture(&monitor)?;
        Ok((started.elapsed(), !capture.covered.is_empty()))
    };
    for _ in 0..effort.times(200) {
        plain.push(once(&*own.screen)?.0);
        let (took, covered) = once(&masked)?;
        ensure!(covered, "the window is left out");
        left_out.push(took);
    }
    let (plain, left_out) = (percentile(&mut plain, 0.5), percentile(&mut left_out, 0.5));
    report.add("capture_masked_ms_p50.1080p", left_out, "ms");
    report.add("capture_masked_ratio.1080p", left_out / plain, "");
    Ok(())
}
