//! Pressing: from an action to single input events.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use openspace_grounding::{Access, Action};

use super::{GuiSession, Hooks, Judged, covers};
use crate::{
    Button, GuiError, Input, InputError, InputPoint, Key, TypeOptions,
    action::{ComputerAction, Place},
    geometry::FrameGeometry,
    settle::sleep,
    target::{app_of, is_own},
};

/// Characters typed before what is pressed is reported again.
const PIECE: usize = 200;
/// How often the focus is looked at while text is typed.
const FOCUS: Duration = Duration::from_millis(20);
/// Points a drag goes through: programs start one only when they see the pointer move.
const DRAG_STEPS: i32 = 12;
/// Pause between these points, and before the button is released.
const DRAG_PAUSE: Duration = Duration::from_millis(8);

impl GuiSession {
    pub(super) fn inject(
        &mut self,
        action: &ComputerAction,
        base: Option<&FrameGeometry>,
        judged: &Judged,
        permitted: &[Action],
        hooks: &Hooks<'_>,
    ) -> Result<(), GuiError> {
        let may = hooks.may_act;
        match action {
            ComputerAction::Click {
                button,
                times,
                at,
                modifiers,
            } => {
                self.go(*at, judged, hooks)?;
                self.while_down(modifiers, hooks, |input| {
                    for _ in 0..*times {
                        input.button(*button, true, may)?;
                        input.button(*button, false, may)?;
                    }
                    Ok(())
                })
            }
            ComputerAction::Move { .. } => {
                let place = action.place().unwrap_or(Place::Pointer);
                self.go(place, judged, hooks)
            }
            ComputerAction::Drag {
                from,
                to,
                modifiers,
            } => {
                let end = self.point(*to, base)?;
                self.go(*from, judged, hooks)?;
                let start = judged.point.unwrap_or(end);
                self.while_down(modifiers, hooks, |input| drag(input, start, end, may))
            }
            ComputerAction::Press { at } => {
                self.go(*at, judged, hooks)?;
                self.input.button(Button::Left, true, may)?;
                self.left_down = true;
                Ok(())
            }
            ComputerAction::Release { at } => {
                self.go(*at, judged, hooks)?;
                self.input.button(Button::Left, false, may)?;
                self.left_down = false;
                Ok(())
            }
            ComputerAction::Scroll {
                at,
                right,
                down,
                modifiers,
            } => {
                self.go(*at, judged, hooks)?;
                self.while_down(modifiers, hooks, |input| input.scroll(*right, *down, may))
            }
            ComputerAction::Key { chord, times } => {
                let keys: Vec<Key> = chord.all().collect();
                (0..*times).try_for_each(|_| self.while_down(&keys, hooks, |_| Ok(())))
            }
            ComputerAction::HoldKey { chord, duration } => {
                let keys: Vec<Key> = chord.all().collect();
                self.while_down(&keys, hooks, |_| {
                    if sleep(*duration, may) {
                        Ok(())
                    } else {
                        Err(InputError::Halted)
                    }
                })
            }
            ComputerAction::Type { text } => self.type_text(text, judged, permitted, hooks),
            _ => Ok(()),
        }
    }

    /// Puts the pointer on the target, unless the action happens where it is.
    fn go(&mut self, place: Place, judged: &Judged, hooks: &Hooks<'_>) -> Result<(), GuiError> {
        match (place, judged.point) {
            (Place::Pointer, _) | (_, None) => Ok(()),
            (_, Some(point)) => Ok(self.input.move_to(point, hooks.may_act)?),
        }
    }

    /// Presses keys, does something, and releases the keys in reverse, also when it fails.
    fn while_down(
        &mut self,
        keys: &[Key],
        hooks: &Hooks<'_>,
        act: impl FnOnce(&mut dyn Input) -> Result<(), InputError>,
    ) -> Result<(), GuiError> {
        let mut down = Vec::with_capacity(keys.len());
        let mut outcome = Ok(());
        for key in keys {
            outcome = self.input.key(*key, true, hooks.may_act);
            if outcome.is_err() {
                break;
            }
            down.push(*key);
        }
        if outcome.is_ok() {
            outcome = act(self.input.as_mut());
        }
        for key in down.iter().rev() {
            // Releasing is always allowed.
            let released = self.input.key(*key, false, &|| true);
            if outcome.is_ok() {
                outcome = released;
            }
        }
        Ok(outcome?)
    }

    /// Types, and stops as soon as the keys would reach a window nobody allowed.
    fn type_text(
        &mut self,
        text: &str,
        judged: &Judged,
        permitted: &[Action],
        hooks: &Hooks<'_>,
    ) -> Result<(), GuiError> {
        let options = TypeOptions {
            delay: self.options.type_delay,
        };
        let characters: Vec<char> = text.chars().collect();
        let screen = self.screen.clone();
        let start = judged.window.as_ref().map(|window| window.id);
        let checked = Cell::new(Instant::now());
        let strayed = RefCell::new(None);
        let mut typed = 0;
        for piece in characters.chunks(PIECE) {
            let piece: String = piece.iter().collect();
            let off_limits = self.options.off_limits.clone();
            let marker = self.options.marker.clone();
            let may = || {
                if !(hooks.may_act)() {
                    return false;
                }
                if checked.get().elapsed() < FOCUS {
                    return strayed.borrow().is_none();
                }
                checked.set(Instant::now());
                let Ok(window) = screen.focused() else {
                    return true;
                };
                if window.as_ref().map(|window| window.id) == start {
                    return true;
                }
                let own = window
                    .as_ref()
                    .is_some_and(|window| is_own(off_limits.as_deref(), marker.as_deref(), window));
                let app = app_of(window.as_ref(), own);
                let who = if own {
                    "a window of OpenSpace".to_owned()
                } else {
                    format!("the window `{}`", app.title)
                };
                let wanted = Action::Screen {
                    app,
                    access: Access::Full,
                };
                if own || !covers(permitted, &wanted) {
                    *strayed.borrow_mut() = Some(who);
                    return false;
                }
                true
            };
            let outcome = self.input.type_text(&piece, options, &may);
            if let Some(who) = strayed.borrow_mut().take() {
                return Err(GuiError::Interrupted(format!(
                    "typing stopped after {typed} to {} of {} characters, because {who} \
                     took the keyboard; what was typed so far stays where it is",
                    (typed + PIECE).min(characters.len()),
                    characters.len()
                )));
            }
            outcome?;
            typed += piece.chars().count();
        }
        Ok(())
    }
}

fn drag(
    input: &mut dyn Input,
    start: InputPoint,
    end: InputPoint,
    may: &dyn Fn() -> bool,
) -> Result<(), InputError> {
    let pause = || {
        if sleep(DRAG_PAUSE, may) {
            Ok(())
        } else {
            Err(InputError::Halted)
        }
    };
    input.button(Button::Left, true, may)?;
    let between = |from: i32, to: i32, step: i32| {
        let way = i64::from(to) - i64::from(from);
        i32::try_from(i64::from(from) + way * i64::from(step) / i64::from(DRAG_STEPS)).unwrap_or(to)
    };
    let moved = (1..=DRAG_STEPS).try_for_each(|step| {
        pause()?;
        let point = InputPoint {
            x: between(start.x, end.x, step),
            y: between(start.y, end.y, step),
        };
        input.move_to(point, may)
    });
    let released = pause().and_then(|()| input.button(Button::Left, false, may));
    moved?;
    released
}
