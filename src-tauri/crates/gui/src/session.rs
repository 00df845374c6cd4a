//! A session on one screen: what was seen last, what is pressed, which monitor is at hand.
//!
//! Everything here blocks for milliseconds up to seconds and belongs on a thread of its own.

mod act;
mod element;
mod inject;
mod judge;
mod look;

use std::{collections::HashMap, sync::Arc, time::Duration};

use openspace_grounding::{Action, Coordinates, FrameId, Image, ImageLimits};

use crate::{
    Capture, Element, GuiError, Held, Input, Monitor, Screen, TargetRing, TellHeld, Tree, Window,
    action::{ComputerAction, Reading},
    capture_check::{CaptureCheck, physical_size},
    encode,
    geometry::{FrameGeometry, Size, layout},
    key::KeyOptions,
    record::StepRecord,
    settle::SettleOptions,
    target::OffLimits,
};

pub use judge::{Judged, covers};

/// How a session behaves.
#[derive(Clone)]
pub struct SessionOptions {
    /// What the model accepts as pictures.
    pub limits: ImageLimits,
    /// How it writes positions.
    pub coordinates: Coordinates,
    /// The monitor to begin with, by name or number from 1; the primary one when none is given.
    pub monitor: Option<String>,
    /// Waiting after actions.
    pub settle: SettleOptions,
    /// Pause after each typed character.
    pub type_delay: Duration,
    /// What must not be touched.
    pub off_limits: Option<Arc<dyn OffLimits>>,
    /// A window whose title contains this text must not be touched either.
    pub marker: Option<String>,
    /// How key names are read.
    pub keys: KeyOptions,
    /// Nothing is done before a picture was taken.
    pub look_first: bool,
    /// Shows the person where a click goes. The screen leaves it out of its pictures.
    pub ring: Option<Arc<TargetRing>>,
}

/// What an action may ask of its surroundings while it runs.
pub struct Hooks<'a> {
    /// Asked right before every input event.
    pub may_act: &'a dyn Fn() -> bool,
    /// Told what is pressed before it is, and when it no longer is.
    pub held: &'a TellHeld,
}

/// A picture of the screen with all that is needed to act on it.
#[derive(Debug, Clone)]
pub struct Frame {
    /// How its pixels lie.
    pub geometry: FrameGeometry,
    /// The pixels as captured.
    pub capture: Capture,
    /// [`encode::hash`] of them.
    pub hash: String,
    /// As it is sent.
    pub image: Image,
    /// Where it is kept, once it is.
    pub id: Option<FrameId>,
    /// What should be told about it.
    pub notes: Vec<String>,
}

/// How a step went.
#[derive(Debug)]
pub enum Step {
    /// Nothing was done: it needs a permission first.
    Ask(Judged),
    /// It was done.
    Done(Box<Done>),
}

/// A step that was done.
#[derive(Debug, Default)]
pub struct Done {
    /// What there is to say.
    pub texts: Vec<String>,
    /// A closer look, where one was asked for.
    pub zoom: Option<Image>,
    /// The current frame shows the screen after the step.
    pub seen: bool,
    /// The screen differs from before; none where that was not looked at.
    pub changed: Option<bool>,
    /// Nothing changed several times in a row.
    pub stuck: bool,
    /// For doing it again.
    pub record: Option<StepRecord>,
}

/// A screen, a keyboard, a mouse and what is known about them.
pub struct GuiSession {
    screen: Arc<dyn Screen>,
    input: Box<dyn Input>,
    tree: Option<Arc<dyn Tree>>,
    options: SessionOptions,
    monitor: Option<String>,
    frame: Option<Frame>,
    generation: u64,
    check: CaptureCheck,
    /// Unfinished lines in terminals, by window.
    pending: HashMap<u64, String>,
    unmoved: u32,
    left_down: bool,
    listed: Vec<(Window, Element)>,
}

impl GuiSession {
    /// A session that has seen nothing yet.
    pub fn new(
        screen: Arc<dyn Screen>,
        input: Box<dyn Input>,
        tree: Option<Arc<dyn Tree>>,
        options: SessionOptions,
    ) -> Self {
        Self {
            screen,
            input,
            tree,
            monitor: options.monitor.clone(),
            options,
            frame: None,
            generation: 0,
            check: CaptureCheck::default(),
            pending: HashMap::new(),
            unmoved: 0,
            left_down: false,
            listed: Vec::new(),
        }
    }

    /// The last picture.
    pub fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    /// A picture must be taken before anything is done.
    pub fn must_look(&self) -> bool {
        self.options.look_first && self.frame.is_none()
    }

    /// Remembers where the last picture is kept.
    pub fn kept(&mut self, id: FrameId) {
        if let Some(frame) = &mut self.frame {
            frame.id = Some(id);
        }
    }

    /// How arguments are read at the moment.
    pub fn reading(&self) -> Reading<'_> {
        Reading {
            frame: self.frame.as_ref().map(|frame| &frame.geometry),
            coordinates: self.options.coordinates,
            keys: self.options.keys,
        }
    }

    /// The size of the next picture: of the last one, or worked out from the monitor.
    pub fn sent_size(&self) -> Result<Size, GuiError> {
        if let Some(frame) = &self.frame {
            return Ok(frame.geometry.sent);
        }
        let (_, monitor) = self.monitors()?;
        let (width, height) = physical_size(&monitor);
        Ok(encode::fit(&self.options.limits, Size { width, height }))
    }

    /// All monitors and the one at hand.
    fn monitors(&self) -> Result<(Vec<Monitor>, Monitor), GuiError> {
        let monitors = self.screen.monitors()?;
        let monitor = choose_monitor(&monitors, self.monitor.as_deref())?.clone();
        Ok((monitors, monitor))
    }

    /// Makes another monitor the one at hand.
    fn choose(&mut self, name: &str) -> Result<(), GuiError> {
        let monitors = self.screen.monitors()?;
        self.monitor = Some(find(&monitors, name)?.name.clone());
        Ok(())
    }

    /// Whether positions of a frame still mean what they meant.
    fn check_layout(&self, geometry: &FrameGeometry) -> Result<(), GuiError> {
        let now = layout(&self.screen.monitors()?);
        if now == geometry.layout {
            return Ok(());
        }
        Err(GuiError::Stale(format!(
            "the monitors changed from {} to {now}; nothing was done, here is the screen as it is",
            geometry.layout
        )))
    }

    /// Lets go of everything, whatever state it is in.
    pub fn release(&mut self) -> Result<(), GuiError> {
        self.left_down = false;
        Ok(self.input.release_all()?)
    }

    /// What is pressed or changed.
    pub fn held(&self) -> Held {
        self.input.held()
    }
}

/// The monitor of that name or number (from 1); without one, the primary one.
///
/// # Errors
/// There is no such monitor (the error names those there are), or none at all.
pub fn choose_monitor<'a>(
    monitors: &'a [Monitor],
    name: Option<&str>,
) -> Result<&'a Monitor, GuiError> {
    if let Some(name) = name {
        return find(monitors, name);
    }
    let primary = monitors.iter().find(|monitor| monitor.primary);
    primary.or(monitors.first()).ok_or_else(|| {
        crate::ScreenError::NoDisplay("no monitor is connected; connect one".into()).into()
    })
}

fn find<'a>(monitors: &'a [Monitor], name: &str) -> Result<&'a Monitor, GuiError> {
    let by_number = || {
        let number: usize = name.trim().parse().ok()?;
        monitors.get(number.checked_sub(1)?)
    };
    monitors
        .iter()
        .find(|monitor| monitor.name == name)
        .or_else(by_number)
        .ok_or_else(|| {
            let names: Vec<&str> = monitors
                .iter()
                .map(|monitor| monitor.name.as_str())
                .collect();
            GuiError::NotFound(format!(
                "there is no monitor `{name}`; there are {}",
                names.join(", ")
            ))
        })
}

impl GuiSession {
    /// Judges an action and, when `permitted` covers what it does, does it. Otherwise answers what
    /// has to be permitted first. `same` is what its target must still look like, when somebody was
    /// asked and waited for. `last` makes the picture that follows the current frame.
    pub fn step(
        &mut self,
        action: &ComputerAction,
        base: Option<&FrameGeometry>,
        permitted: &[Action],
        same: Option<&Judged>,
        last: bool,
        hooks: &Hooks<'_>,
    ) -> Result<Step, GuiError> {
        if !(hooks.may_act)() {
            return Err(GuiError::Cancelled);
        }
        let judged = self.judge(action, base, &mut self.pending.clone())?;
        if action.is_control() {
            judged.refuse_own()?;
            self.refuse_stop_chord(action)?;
        }
        if !judged.actions.iter().all(|asked| covers(permitted, asked)) {
            return Ok(Step::Ask(judged));
        }
        if let Some(asked) = same {
            self.still_the_same(asked, &judged, hooks)?;
        }
        self.input.report_to(Some(hooks.held.clone()));
        let done = self.perform(action, base, &judged, permitted, last, hooks);
        self.let_go(done.is_err(), hooks);
        done.map(|done| Step::Done(Box::new(done)))
    }

    /// After every step nothing stays down except a left button that was pressed to stay.
    fn let_go(&mut self, failed: bool, hooks: &Hooks<'_>) {
        let held = self.input.held();
        let stuck = !held.keycodes.is_empty() || (!held.buttons.is_empty() && !self.left_down);
        if stuck || (failed && !held.is_empty()) {
            self.left_down = false;
            // Nothing more can be done about a display that is gone; the guard tries again.
            if let Err(error) = self.input.release_all() {
                tracing::warn!(%error, "keys or buttons could not be released");
            }
        }
        self.input.report_to(None);
        (hooks.held)(&self.input.held());
    }
}
