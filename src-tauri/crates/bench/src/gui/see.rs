//! Capture, resize and encode: what a model is sent.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use openspace_grounding::ImageLimits;
use openspace_gui::{
    Capture, Monitor, Screen,
    encode::{encode, fit},
    geometry::{FrameGeometry, PhysicalRect, Size, layout},
};
use openspace_testkit::{
    RawTarget, TestScreen,
    target::{Patch, Window},
};

use crate::{
    Effort,
    figure::{Report, missing, percentile},
};

/// What models of the standard class are sent.
pub(crate) const STANDARD: ImageLimits = limits(1568, 1568);
/// What models of the 2576-px class are sent.
pub(crate) const LARGE: ImageLimits = limits(2576, 4784);

const fn limits(max_edge: u32, max_patches: u32) -> ImageLimits {
    ImageLimits {
        max_edge,
        max_patches,
        max_edge_many: 2000,
        many: 20,
        max_images: 100,
        max_request_bytes: 32 << 20,
        max_image_bytes: 10 << 20,
    }
}

/// A window with enough on it that encoding has something to do.
pub(crate) fn busy_window(screen: &TestScreen) -> Window {
    let mut window = Window::full(screen).with_probes(12);
    let (columns, rows) = (48, 27);
    let (width, height) = screen.size();
    let (wide, high) = (width / columns, height / rows);
    for index in 0..columns * rows {
        let (column, row) = (index % columns, index / columns);
        let shade = |factor: u32| u8::try_from(index * factor % 251).unwrap_or(0);
        let area = openspace_testkit::screen::Rect::new(
            (column * wide) as i32,
            (row * high) as i32,
            wide - 6,
            high - 8,
        );
        let colour = [shade(37), shade(91), shade(143)];
        window.patches.insert(0, Patch::dead("noise", area, colour));
    }
    window
}

pub(crate) fn measure(
    screen: &TestScreen,
    size: &str,
    limits: &ImageLimits,
    effort: Effort,
    report: &mut Report,
) -> Result<()> {
    let _target = RawTarget::start(screen, busy_window(screen))?;
    let own = super::open(screen)?;
    let mut samples = time(&*own.screen, limits, effort.times(100))?;
    report.add(
        &format!("capture_encode_ms_p50.{size}"),
        percentile(&mut samples, 0.5),
        "ms",
    );
    let name = format!("capture_encode_xcap_ms_p50.{size}");
    measure_portable(screen, &name, limits, effort, report)
}

/// The same with the portable implementation, to know what our own path is worth. In a process of
/// its own, because that implementation takes the display from the environment.
#[cfg(feature = "portable")]
fn measure_portable(
    screen: &TestScreen,
    name: &str,
    limits: &ImageLimits,
    effort: Effort,
    report: &mut Report,
) -> Result<()> {
    let class = if limits == &LARGE {
        "large"
    } else {
        "standard"
    };
    let output = std::process::Command::new(std::env::current_exe()?)
        .args(["time-portable", class, &effort.times(30).to_string()])
        .envs(screen.environment())
        .output()
        .context("starting the process that measures the portable way")?;
    match String::from_utf8_lossy(&output.stdout).trim().parse() {
        Ok(milliseconds) => report.add(name, milliseconds, "ms"),
        Err(_) => missing(name, String::from_utf8_lossy(&output.stderr).trim()),
    }
    Ok(())
}

/// The other process of that measurement: prints the median in milliseconds.
#[cfg(feature = "portable")]
pub(crate) fn time_portable(class: &str, times: &str) -> Result<()> {
    let limits = if class == "large" { &LARGE } else { &STANDARD };
    let options = openspace_gui::platform::Options {
        display: std::env::var("DISPLAY").ok(),
        ..Default::default()
    };
    let portable = openspace_gui::platform::portable::open(&options)?;
    let mut samples = time(&*portable.screen, limits, times.parse()?)?;
    println!("{}", percentile(&mut samples, 0.5));
    Ok(())
}

#[cfg(not(feature = "portable"))]
#[expect(clippy::unnecessary_wraps, reason = "the same as with the feature")]
fn measure_portable(
    _: &TestScreen,
    name: &str,
    _: &ImageLimits,
    _: Effort,
    _: &mut Report,
) -> Result<()> {
    missing(name, "built without the feature `portable`");
    Ok(())
}

fn time(screen: &dyn Screen, limits: &ImageLimits, times: usize) -> Result<Vec<Duration>> {
    let monitor = primary(screen)?;
    let once = || -> Result<Duration> {
        let started = Instant::now();
        look(screen, &monitor, limits, 1)?;
        Ok(started.elapsed())
    };
    // Connections, threads and pages are paid for once, not per frame.
    for _ in 0..3 {
        once()?;
    }
    (0..times).map(|_| once()).collect()
}

pub(crate) fn primary(screen: &dyn Screen) -> Result<Monitor> {
    screen.monitors()?.into_iter().next().context("a monitor")
}

/// Captures and encodes one frame as the model would get it.
pub(crate) fn look(
    screen: &dyn Screen,
    monitor: &Monitor,
    limits: &ImageLimits,
    generation: u64,
) -> Result<(Capture, FrameGeometry)> {
    let capture = screen.capture(monitor)?;
    let physical = Size {
        width: capture.width,
        height: capture.height,
    };
    let sent = fit(limits, physical);
    let whole = PhysicalRect {
        x: 0,
        y: 0,
        width: physical.width,
        height: physical.height,
    };
    std::hint::black_box(encode(&capture, whole, sent)?);
    let layout = layout(std::slice::from_ref(monitor));
    let geometry = FrameGeometry {
        generation,
        monitor: monitor.clone(),
        physical,
        sent,
        layout,
    };
    Ok((capture, geometry))
}
