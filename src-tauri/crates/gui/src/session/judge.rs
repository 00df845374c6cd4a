//! What an action would do to which program, found out without doing it.

use std::{collections::HashMap, time::Duration};

use openspace_grounding::{Access, Action, ScreenApp};

use super::{GuiSession, Hooks};
use crate::{
    GuiError, InputPoint, Window,
    action::{ComputerAction, Place},
    encode,
    geometry::{FrameGeometry, PhysicalRect, Size},
    key::Chord,
    settle::sleep,
    target::{UNKNOWN, app_of, is_own, is_paste, pending_after, terminal_input},
};

/// Edge of the part of the picture that must not change while somebody is asked, in captured pixels.
const TARGET: u32 = 96;
/// A caret blinks about once a second: so long a target may take to look as before again.
pub(super) const BLINK: Duration = Duration::from_millis(700);

/// What an action would do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// For the policy.
    pub actions: Vec<Action>,
    /// It would reach a window of ours, or one that waits for an answer to us.
    pub own: bool,
    /// The window it would reach.
    pub window: Option<Window>,
    /// Where it would happen.
    pub point: Option<InputPoint>,
    /// The target's surroundings as captured, with their hash.
    pub picture: Option<(PhysicalRect, String)>,
}

impl Judged {
    /// Own windows are refused here too, whatever the policy said.
    pub(super) fn refuse_own(&self) -> Result<(), GuiError> {
        if !self.own {
            return Ok(());
        }
        let place = match self.point {
            Some(_) => "what covers this place",
            None => "what has the keyboard",
        };
        // Not by its title, which may tell of other tasks.
        Err(GuiError::OffLimits(format!(
            "{place} is a window of OpenSpace, which is grey in pictures, or one that waits for the \
             person's answer to it; work in another window, or ask the person to move or minimise it"
        )))
    }
}

/// Whether what was permitted includes an action.
pub fn covers(permitted: &[Action], asked: &Action) -> bool {
    let same = |one: &ScreenApp, other: &ScreenApp| {
        one.name == other.name && one.terminal == other.terminal && one.own == other.own
    };
    permitted.iter().any(|given| match (given, asked) {
        (
            Action::Screen { app, access },
            Action::Screen {
                app: wanted,
                access: needed,
            },
        ) => same(app, wanted) && access >= needed,
        // The beginning of a permitted line does no more than the line.
        (
            Action::TypedCommand { app, line },
            Action::TypedCommand {
                app: wanted,
                line: begun,
            },
        ) => same(app, wanted) && line.starts_with(begun.as_str()),
        (given, asked) => given == asked,
    })
}

impl GuiSession {
    /// The unfinished lines of terminals, by window.
    pub(crate) fn pending(&self) -> HashMap<u64, String> {
        self.pending.clone()
    }

    /// Judges an action on the screen as it is now. `pending` holds the unfinished lines of
    /// terminals and is brought forward as if the action had been done.
    pub fn judge(
        &mut self,
        action: &ComputerAction,
        base: Option<&FrameGeometry>,
        pending: &mut HashMap<u64, String>,
    ) -> Result<Judged, GuiError> {
        if let (Some(Place::Sent(_)), Some(base)) = (action.place(), base) {
            self.check_layout(base)?;
        }
        match action {
            ComputerAction::Screenshot { .. }
            | ComputerAction::Zoom { .. }
            | ComputerAction::Wait { .. }
            | ComputerAction::CursorPosition => Ok(Judged {
                actions: vec![Action::Screen {
                    app: app_of(None, false),
                    access: Access::Look,
                }],
                ..Judged::default()
            }),
            ComputerAction::ClipboardRead => Ok(clipboard(Access::Look)),
            ComputerAction::ClipboardWrite { .. } => Ok(clipboard(Access::Full)),
            ComputerAction::Type { text } => self.judge_keys(text, pending),
            ComputerAction::Key { chord, .. } | ComputerAction::HoldKey { chord, .. } => {
                let text = self.text_of(chord)?;
                self.judge_keys(&text, pending)
            }
            ComputerAction::Drag { from, to, .. } => self.judge_drag(*from, *to, base, pending),
            ComputerAction::Press { at } | ComputerAction::Release { at } => {
                self.judge_place(*at, base, Access::Full)
            }
            ComputerAction::Move { to } => {
                let access = if self.left_down {
                    Access::Full
                } else {
                    Access::Click
                };
                self.judge_place(*to, base, access)
            }
            ComputerAction::Scroll { at, .. } => self.judge_place(*at, base, Access::Click),
            ComputerAction::Click { at, button, .. } => {
                let judged = self.judge_place(*at, base, Access::Click)?;
                if *button == crate::Button::Middle {
                    // In a terminal the middle button pastes what was selected anywhere.
                    return Ok(Self::with_paste(judged, pending));
                }
                Ok(judged)
            }
        }
    }

    /// The stop chord belongs to the person.
    pub(super) fn refuse_stop_chord(&self, action: &ComputerAction) -> Result<(), GuiError> {
        let Some(off_limits) = &self.options.off_limits else {
            return Ok(());
        };
        let (ComputerAction::Key { chord, .. } | ComputerAction::HoldKey { chord, .. }) = action
        else {
            return Ok(());
        };
        if chord.includes(&off_limits.stop_chord()) {
            return Err(GuiError::OffLimits(
                "this chord is how the person stops the run; it cannot be pressed from here".into(),
            ));
        }
        Ok(())
    }

    pub(super) fn is_own(&self, window: &Window) -> bool {
        let options = &self.options;
        is_own(
            options.off_limits.as_deref(),
            options.marker.as_deref(),
            window,
        )
    }

    /// Where a place is in input space.
    pub(super) fn point(
        &self,
        place: Place,
        base: Option<&FrameGeometry>,
    ) -> Result<InputPoint, GuiError> {
        match place {
            Place::Pointer => Ok(self.screen.pointer()?),
            Place::Input(point) => Ok(point),
            Place::Sent(point) => {
                let base = base.ok_or_else(|| {
                    GuiError::Stale("no picture has been taken yet; this one is fresh".into())
                })?;
                Ok(base.sent_to_input(point)?)
            }
        }
    }

    fn judge_place(
        &self,
        place: Place,
        base: Option<&FrameGeometry>,
        access: Access,
    ) -> Result<Judged, GuiError> {
        let point = self.point(place, base)?;
        let window = self.screen.window_at(point)?;
        let own = window.as_ref().is_some_and(|window| self.is_own(window));
        Ok(Judged {
            actions: vec![Action::Screen {
                app: app_of(window.as_ref(), own),
                access,
            }],
            own,
            point: Some(point),
            picture: None,
            window,
        })
    }

    fn judge_drag(
        &self,
        from: Place,
        to: Place,
        base: Option<&FrameGeometry>,
        pending: &mut HashMap<u64, String>,
    ) -> Result<Judged, GuiError> {
        let start = self.judge_place(from, base, Access::Full)?;
        let end = self.judge_place(to, base, Access::Full)?;
        let across = start.window.as_ref().map(|w| w.id) != end.window.as_ref().map(|w| w.id);
        // What is dropped on a terminal is typed there.
        let end = if across {
            Self::with_paste(end, pending)
        } else {
            end
        };
        let mut actions = start.actions;
        for action in end.actions {
            if !covers(&actions, &action) {
                actions.push(action);
            }
        }
        Ok(Judged {
            actions,
            own: start.own || end.own,
            ..start
        })
    }

    fn with_paste(mut judged: Judged, pending: &mut HashMap<u64, String>) -> Judged {
        let terminal = judged.window.as_ref().and_then(|window| {
            let app = app_of(Some(window), judged.own);
            app.terminal.then_some((window.id, app))
        });
        if let Some((id, app)) = terminal {
            let line = pending.entry(id).or_default();
            line.push(UNKNOWN);
            judged.actions.push(Action::TypedCommand {
                app,
                line: line.clone(),
            });
        }
        judged
    }

    /// What a chord types, a pasted clipboard included.
    fn text_of(&mut self, chord: &Chord) -> Result<String, GuiError> {
        if is_paste(chord) {
            let pasted = self.input.clipboard()?;
            return Ok(pasted.unwrap_or_else(|| UNKNOWN.into()));
        }
        Ok(terminal_input(chord))
    }

    fn judge_keys(
        &self,
        text: &str,
        pending: &mut HashMap<u64, String>,
    ) -> Result<Judged, GuiError> {
        let window = self.screen.focused()?;
        let own = window.as_ref().is_some_and(|window| self.is_own(window));
        let app = app_of(window.as_ref(), own);
        let action = match &window {
            Some(window) if app.terminal => {
                let before = pending.get(&window.id).map_or("", String::as_str);
                let line = format!("{before}{text}");
                let rest = pending_after(before, text);
                pending.insert(window.id, rest);
                Action::TypedCommand { app, line }
            }
            _ => Action::Screen {
                app,
                access: Access::Full,
            },
        };
        Ok(Judged {
            actions: vec![action],
            own,
            window,
            point: None,
            picture: None,
        })
    }

    /// Adds what the target looks like now, for [`GuiSession::still_the_same`].
    pub fn with_picture(&self, mut judged: Judged) -> Result<Judged, GuiError> {
        if let (Some(point), Some(frame)) = (judged.point, &self.frame)
            && let Some(middle) = frame.geometry.input_to_physical(point)
        {
            let capture = self.screen.capture(&frame.geometry.monitor)?;
            let picture = Size {
                width: capture.width,
                height: capture.height,
            };
            let area = PhysicalRect::around(middle, TARGET, picture);
            let hash = encode::hash(&encode::crop(&capture, area)?);
            judged.picture = Some((area, hash));
        }
        Ok(judged)
    }

    /// What was asked about must still be there: the window that would get the keys, or the picture
    /// around the point. A blinking caret is given time to look as before.
    pub(super) fn still_the_same(
        &self,
        asked: &Judged,
        now: &Judged,
        hooks: &Hooks<'_>,
    ) -> Result<(), GuiError> {
        let stale = || {
            Err(GuiError::Stale(
                "the screen changed at the target while the permission was waited for; nothing was \
                 done, here is the screen as it is"
                    .into(),
            ))
        };
        let id = |judged: &Judged| judged.window.as_ref().map(|window| window.id);
        if id(asked) != id(now) || asked.point != now.point {
            return stale();
        }
        let (Some((area, hash)), Some(frame)) = (&asked.picture, &self.frame) else {
            return Ok(());
        };
        let pause = Duration::from_millis(50);
        for _ in 0..=BLINK.as_millis() / pause.as_millis() {
            let capture = self.screen.capture(&frame.geometry.monitor)?;
            if encode::crop(&capture, *area).is_ok_and(|crop| encode::hash(&crop) == *hash) {
                return Ok(());
            }
            if !sleep(pause, hooks.may_act) {
                return Err(GuiError::Cancelled);
            }
        }
        stale()
    }
}

fn clipboard(access: Access) -> Judged {
    Judged {
        actions: vec![Action::Screen {
            app: ScreenApp {
                name: "clipboard".into(),
                title: String::new(),
                terminal: false,
                own: false,
            },
            access,
        }],
        ..Judged::default()
    }
}
