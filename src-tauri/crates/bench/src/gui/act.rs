//! Clicks and keys: how fast, how exact, and what a step costs besides the model.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use openspace_grounding::ImageLimits;
use openspace_gui::{Button, DrawRing as _, Input, InputPoint, TypeOptions};
use openspace_testkit::{
    GtkTarget, RawTarget, TestScreen,
    target::{Happened, Window},
    wait_until,
};

use super::see::{look, primary};
use crate::{
    Effort,
    figure::{Report, percentile},
};

/// How long anything may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(20);

fn always() -> bool {
    true
}

fn click(input: &mut dyn Input, point: InputPoint) -> Result<()> {
    input.move_to(point, &always)?;
    input.button(Button::Left, true, &always)?;
    input.button(Button::Left, false, &always)?;
    Ok(())
}

/// Move, press and release, until the server has them; without and with a ring around the place, for
/// which nobody waits.
pub(crate) fn measure_clicks(
    screen: &TestScreen,
    effort: Effort,
    report: &mut Report,
) -> Result<()> {
    let mut ring = super::ring(screen)?;
    let mut plain = clicks(screen, effort, |_| {})?;
    report.add("click_inject_ms_p50", percentile(&mut plain, 0.5), "ms");
    let mut ringed = clicks(screen, effort, |point| ring.show(point))?;
    report.add(
        "click_inject_ringed_ms_p50",
        percentile(&mut ringed, 0.5),
        "ms",
    );
    Ok(())
}

fn clicks(
    screen: &TestScreen,
    effort: Effort,
    mut before: impl FnMut(InputPoint),
) -> Result<Vec<Duration>> {
    let target = RawTarget::start(screen, Window::full(screen))?;
    let mut own = super::open(screen)?;
    let mut samples = Vec::new();
    for index in 0..effort.times(200) as i32 {
        let point = InputPoint {
            x: 100 + index * 7 % 1700,
            y: 100 + index * 13 % 900,
        };
        let started = Instant::now();
        before(point);
        click(&mut *own.input, point)?;
        samples.push(started.elapsed());
    }
    let expected = samples.len();
    ensure!(
        wait_until(ARRIVAL, || target.clicks().len() == expected),
        "clicks were lost"
    );
    Ok(samples)
}

/// How far a click lands from the exact middle of the pixel that the model named, at most.
pub(crate) fn measure_error(
    screens: &[(&TestScreen, &ImageLimits)],
    report: &mut Report,
) -> Result<()> {
    let mut worst = 0.0_f64;
    for (screen, limits) in screens {
        let target = RawTarget::start(screen, Window::full(screen))?;
        let mut own = super::open(screen)?;
        let monitor = primary(&*own.screen)?;
        let (_, geometry) = look(&*own.screen, &monitor, limits, 1)?;
        let (width, height) = (geometry.sent.width, geometry.sent.height);
        for (x, y) in [
            (0, 0),
            (width - 1, 0),
            (0, height - 1),
            (width - 1, height - 1),
            (width / 2, height / 2),
            (width / 3, height / 7),
            (width * 5 / 7, height * 9 / 11),
        ] {
            target.clear();
            let sent = geometry.sent(x.into(), y.into())?;
            click(&mut *own.input, geometry.sent_to_input(sent)?)?;
            wait_until(ARRIVAL, || !target.clicks().is_empty());
            let clicks = target.clicks();
            let (_, at_x, at_y) = clicks.first().context("a click that arrives")?;
            let exact = |at: u32, physical: u32, sent: u32| {
                (f64::from(at) + 0.5) * f64::from(physical) / f64::from(sent) - 0.5
            };
            let error_x = f64::from(*at_x) - exact(x, geometry.physical.width, width);
            let error_y = f64::from(*at_y) - exact(y, geometry.physical.height, height);
            worst = worst.max(error_x.abs()).max(error_y.abs());
        }
    }
    report.add("click_error_px_max", worst, "px");
    Ok(())
}

/// A thousand characters, until the window has the last of them.
pub(crate) fn measure_typing(screen: &TestScreen, report: &mut Report) -> Result<()> {
    let mut own = super::open(screen)?;
    let text: String = "The quick Brown Fox, 42 jumps? (over) {lazy} dogs! "
        .chars()
        .cycle()
        .take(1000)
        .collect();
    let options = TypeOptions {
        delay: Duration::ZERO,
    };
    exactly(screen, &mut *own.input, &text, options)?;
    let target = RawTarget::start(screen, Window::full(screen))?;
    let heard = || {
        let events = target.events();
        let downs = events.iter().filter(|event| {
            matches!(&event.what, Happened::KeyDown { key, .. } if !key.starts_with("Shift"))
        });
        downs.count()
    };
    // The window has the focus once it hears a letter: what is typed before that is nobody's.
    let mut has_focus = false;
    for _ in 0..10 {
        own.input.type_text("x", options, &always)?;
        has_focus = wait_until(Duration::from_millis(500), || heard() > 0);
        if has_focus {
            break;
        }
    }
    ensure!(has_focus, "the window does not get the focus");
    let before = heard();
    let started = Instant::now();
    own.input.type_text(&text, options, &always)?;
    let typed = || heard() >= before + text.chars().count();
    ensure!(wait_until(ARRIVAL, typed), "characters were lost");
    let last = target
        .events()
        .last()
        .map(|event| event.at)
        .context("keys that arrive")?;
    report.add(
        "type_1000_chars_ms",
        last.duration_since(started).as_secs_f64() * 1000.0,
        "ms",
    );
    Ok(())
}

/// The same text into a real entry: a quick figure for a wrong text would be worth nothing.
fn exactly(
    screen: &TestScreen,
    input: &mut dyn Input,
    text: &str,
    options: TypeOptions,
) -> Result<()> {
    let form = GtkTarget::start(screen)?;
    // The entry has the focus from the start.
    input.type_text(text, options, &always)?;
    let got = form.wait_for_text("entry", text, ARRIVAL);
    ensure!(got == text, "typed {text:?}, the entry holds {got:?}");
    Ok(())
}
