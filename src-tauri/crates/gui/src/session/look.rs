//! Seeing: captures that can be trusted, turned into frames.

use std::{thread, time::Duration, time::Instant};

use openspace_grounding::Image;

use super::{Frame, GuiSession, judge::BLINK};
use crate::{
    Capture, GuiError, InputRect, LOOKUP, Monitor, ScreenError, ScreenState,
    capture_check::{CaptureCheck, Verdict},
    encode,
    geometry::{FrameGeometry, PhysicalRect, SentRect, Size, layout},
};

/// Before a blank screen is looked at again.
const SECOND_LOOK: Duration = Duration::from_millis(60);
/// Said about a picture with a large window of ours in it, and which part of a picture is large.
const COVERED: &str =
    "Grey in the picture is a window of OpenSpace, which is not yours to see or use.";
const WORTH_A_WORD: u64 = 20;

impl GuiSession {
    /// Takes a picture and makes it the current frame.
    pub fn look(&mut self) -> Result<&Frame, GuiError> {
        let (monitors, monitor) = self.monitors()?;
        let secrets = self.secrets();
        let (capture, note) = self.grab(&monitor)?;
        if self
            .frame
            .as_ref()
            .is_some_and(|frame| frame.capture != capture)
        {
            // What was done before may have shown late.
            self.unmoved = 0;
        }
        self.show(&monitors, monitor, capture, secrets, note)
    }

    /// The screen shows what the last picture shows. A blinking caret is given time to look as before.
    pub fn looks_as_before(&self) -> Result<bool, GuiError> {
        let Some(frame) = &self.frame else {
            return Ok(false);
        };
        let pause = Duration::from_millis(50);
        for _ in 0..=BLINK.as_millis() / pause.as_millis() {
            if self.screen.capture(&frame.geometry.monitor)? == frame.capture {
                return Ok(true);
            }
            thread::sleep(pause);
        }
        Ok(false)
    }

    /// Captures a monitor and refuses what must not be taken for the screen.
    pub(super) fn grab(
        &mut self,
        monitor: &Monitor,
    ) -> Result<(Capture, Option<String>), GuiError> {
        match self.screen.state()? {
            ScreenState::Usable => {}
            ScreenState::Locked => {
                return Err(ScreenError::BadCapture(
                    "the session is locked; the person has to unlock it".into(),
                )
                .into());
            }
            ScreenState::Off => {
                return Err(ScreenError::BadCapture(
                    "the display is switched off; the person has to switch it on".into(),
                )
                .into());
            }
        }
        let window = self.screen.focused()?;
        for attempt in 0..2 {
            let capture = self.screen.capture(monitor)?;
            match self.check.pixels(&capture, monitor, window.as_ref())? {
                Verdict::Fine => return Ok((capture, None)),
                Verdict::SingleColour(colour) => {
                    let note = format!("The whole screen is one colour, {colour}.");
                    return Ok((capture, Some(note)));
                }
                Verdict::Blank(_) if attempt == 0 => thread::sleep(SECOND_LOOK),
                Verdict::Blank(reason) => return Err(ScreenError::BadCapture(reason).into()),
            }
        }
        Err(ScreenError::BadCapture("it stays blank".into()).into())
    }

    /// Rectangles of password fields, as far as they are known in time.
    pub(super) fn secrets(&self) -> Vec<InputRect> {
        self.tree
            .as_ref()
            .map(|tree| tree.passwords(Instant::now() + LOOKUP))
            .unwrap_or_default()
    }

    /// Makes a capture the current frame. Pixels that did not change keep their picture.
    pub(super) fn show(
        &mut self,
        monitors: &[Monitor],
        monitor: Monitor,
        capture: Capture,
        secrets: Vec<InputRect>,
        note: Option<String>,
    ) -> Result<&Frame, GuiError> {
        let physical = Size {
            width: capture.width,
            height: capture.height,
        };
        let geometry = FrameGeometry {
            generation: self.generation + 1,
            sent: encode::fit(&self.options.limits, physical),
            layout: layout(monitors),
            monitor,
            physical,
        };
        let covered: Vec<PhysicalRect> = secrets
            .into_iter()
            .filter_map(|area| geometry.covered(area))
            .collect();
        let old = self.frame.take().filter(|old| {
            old.capture == capture
                && old.geometry.sent == geometry.sent
                && old.geometry.monitor == geometry.monitor
                && covered.is_empty()
        });
        let (hash, image, id) = if let Some(old) = old {
            (old.hash, old.image, old.id)
        } else {
            let (hash, image) = picture(&capture, &covered, geometry.sent)?;
            CaptureCheck::file(image.data.len())?;
            (hash, image, None)
        };
        let window = self.screen.focused()?;
        self.check.motion(&hash, window.as_ref())?;
        let mut notes: Vec<String> = note.into_iter().collect();
        if is_covered(&capture) {
            notes.push(COVERED.into());
        }
        if monitors.len() > 1 {
            notes.push(Self::monitors_told(monitors, &geometry.monitor));
        }
        self.generation += 1;
        Ok(self.frame.insert(Frame {
            geometry,
            capture,
            hash,
            image,
            id,
            notes,
        }))
    }

    fn monitors_told(monitors: &[Monitor], shown: &Monitor) -> String {
        let names: Vec<String> = monitors
            .iter()
            .enumerate()
            .map(|(index, monitor)| {
                let mark = if monitor.name == shown.name {
                    " (shown)"
                } else {
                    ""
                };
                format!("{} `{}`{mark}", index + 1, monitor.name)
            })
            .collect();
        format!("Monitors: {}.", names.join(", "))
    }

    /// A closer look at a part of the screen, in the most detail the model can see.
    pub(super) fn zoom(
        &mut self,
        region: SentRect,
        base: &FrameGeometry,
    ) -> Result<Image, GuiError> {
        self.check_layout(base)?;
        let area = base.region(region)?;
        let secrets = self.secrets();
        let (mut capture, _) = self.grab(&base.monitor)?;
        for secret in secrets
            .into_iter()
            .filter_map(|secret| base.covered(secret))
        {
            cover(&mut capture, secret);
        }
        let size = Size {
            width: area.width,
            height: area.height,
        };
        let sent = encode::fit_zoom(&self.options.limits, size, base.sent);
        encode::encode(&capture, area, sent)
    }
}

/// Hash of the pixels and the picture of them with `covered` painted over, made at the same time.
fn picture(
    capture: &Capture,
    covered: &[PhysicalRect],
    sent: Size,
) -> Result<(String, Image), GuiError> {
    let whole = PhysicalRect {
        x: 0,
        y: 0,
        width: capture.width,
        height: capture.height,
    };
    let masked = (!covered.is_empty()).then(|| {
        let mut masked = capture.clone();
        for area in covered {
            cover(&mut masked, *area);
        }
        masked
    });
    let shown = masked.as_ref().unwrap_or(capture);
    thread::scope(|scope| {
        let hash = scope.spawn(|| encode::hash(capture));
        let image = encode::encode(shown, whole, sent)?;
        let hash = hash
            .join()
            .map_err(|_| GuiError::Encode("hashing failed".into()))?;
        Ok((hash, image))
    })
}

/// Enough is painted over to be worth a word.
fn is_covered(capture: &Capture) -> bool {
    let pixels = |width: u32, height: u32| u64::from(width) * u64::from(height);
    let covered = capture.covered.iter().map(|it| pixels(it.width, it.height));
    covered.sum::<u64>() * WORTH_A_WORD >= pixels(capture.width, capture.height)
}

/// Paints over what must not be seen.
fn cover(capture: &mut Capture, area: PhysicalRect) {
    const GREY: u8 = 0x80;
    let stride = capture.width as usize * 4;
    let (start, length) = (area.x as usize * 4, area.width as usize * 4);
    for row in area.y..area.y + area.height {
        let from = row as usize * stride + start;
        if let Some(pixels) = capture.bgrx.get_mut(from..from + length) {
            pixels.fill(GREY);
        }
    }
}
