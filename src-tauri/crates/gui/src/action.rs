//! What the `computer` tool can be asked for: the argument shapes of the hosted computer tool, plus
//! the clipboard and the choice of a monitor.

mod schema;

use std::time::Duration;

use openspace_grounding::Coordinates;
use serde_json::{Map, Value, json};

use crate::{
    Button, GuiError, Key,
    geometry::{FrameGeometry, PointError, SentPoint, SentRect, shortened},
    key::{self, Chord, KeyOptions},
};

pub use schema::{batch_schema, computer_schema};

/// Most wheel notches of one action.
const MOST_NOTCHES: i64 = 100;
/// Most times one action presses a chord.
const MOST_REPEATS: u64 = 100;
/// Longest wait and longest hold.
const LONGEST: Duration = Duration::from_secs(100);
/// Longest text of one action, in characters.
const LONGEST_TEXT: usize = 20_000;

/// Where something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where the pointer is.
    Pointer,
    /// A pixel of the picture the model saw.
    Sent(SentPoint),
    /// A point found otherwise, such as the middle of an element.
    Input(crate::InputPoint),
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum ComputerAction {
    /// Look at a monitor; the named one becomes the current one.
    Screenshot {
        /// Its name or its number from 1; the current one when none is given.
        monitor: Option<String>,
    },
    /// Look closer.
    Zoom {
        /// What to look at, in pixels of the picture.
        region: SentRect,
    },
    /// Press a button once or more.
    Click {
        /// Which.
        button: Button,
        /// How often, 1 to 3.
        times: u8,
        /// Where.
        at: Place,
        /// Held meanwhile.
        modifiers: Vec<Key>,
    },
    /// Move the pointer.
    Move {
        /// Where to.
        to: Place,
    },
    /// Drag with the left button.
    Drag {
        /// Where it is pressed.
        from: Place,
        /// Where it is released.
        to: Place,
        /// Held meanwhile.
        modifiers: Vec<Key>,
    },
    /// Press the left button and keep it down.
    Press {
        /// Where.
        at: Place,
    },
    /// Release the left button.
    Release {
        /// Where.
        at: Place,
    },
    /// Turn the wheel.
    Scroll {
        /// Where.
        at: Place,
        /// Notches to the right.
        right: i32,
        /// Notches down.
        down: i32,
        /// Held meanwhile.
        modifiers: Vec<Key>,
    },
    /// Press a chord.
    Key {
        /// The keys.
        chord: Chord,
        /// How often, at least once.
        times: u8,
    },
    /// Keep a chord pressed.
    HoldKey {
        /// The keys.
        chord: Chord,
        /// How long.
        duration: Duration,
    },
    /// Type text.
    Type {
        /// The text; `\n` is Return.
        text: String,
    },
    /// Do nothing for a while.
    Wait {
        /// How long.
        duration: Duration,
    },
    /// Tell where the pointer is.
    CursorPosition,
    /// Read the clipboard.
    ClipboardRead,
    /// Put text on the clipboard.
    ClipboardWrite {
        /// The text.
        text: String,
    },
}

impl ComputerAction {
    /// It moves the mouse, presses something or changes the clipboard.
    pub fn is_control(&self) -> bool {
        !matches!(
            self,
            Self::Screenshot { .. }
                | Self::Zoom { .. }
                | Self::Wait { .. }
                | Self::CursorPosition
                | Self::ClipboardRead
        )
    }

    /// It ends with a picture of the whole screen and does nothing else.
    pub fn is_look(&self) -> bool {
        matches!(self, Self::Screenshot { .. } | Self::Wait { .. })
    }

    /// Where it begins, when that is a place on the screen.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Click { at, .. }
            | Self::Press { at }
            | Self::Release { at }
            | Self::Scroll { at, .. } => Some(*at),
            Self::Move { to } => Some(*to),
            Self::Drag { from, .. } => Some(*from),
            _ => None,
        }
    }

    /// Something should be seen afterwards, so its absence is worth counting.
    pub fn should_show(&self) -> bool {
        self.is_control() && !matches!(self, Self::Move { .. } | Self::ClipboardWrite { .. })
    }
}

impl ComputerAction {
    /// The arguments that mean this action; keys by name, positions in the picture's pixels.
    pub fn arguments(&self) -> Value {
        let place = |place: &Place| match place {
            Place::Sent(point) => json!([point.x, point.y]),
            Place::Pointer | Place::Input(_) => Value::Null,
        };
        let names = |keys: &[Key]| {
            let names: Vec<String> = keys.iter().map(|key| key::name(*key)).collect();
            names.join("+")
        };
        let mut arguments = match self {
            Self::Screenshot { monitor } => json!({"action": "screenshot", "monitor": monitor}),
            Self::Zoom { region } => {
                json!({"action": "zoom", "region": [region.x0, region.y0, region.x1, region.y1]})
            }
            Self::Click {
                button,
                times,
                at,
                modifiers,
            } => {
                let action = match (button, times) {
                    (Button::Left, 1) => "left_click",
                    (Button::Left, 2) => "double_click",
                    (Button::Left, _) => "triple_click",
                    (Button::Middle, _) => "middle_click",
                    (Button::Right, _) => "right_click",
                };
                json!({"action": action, "coordinate": place(at), "text": names(modifiers)})
            }
            Self::Move { to } => json!({"action": "mouse_move", "coordinate": place(to)}),
            Self::Drag {
                from,
                to,
                modifiers,
            } => json!({
                "action": "left_click_drag",
                "start_coordinate": place(from),
                "coordinate": place(to),
                "text": names(modifiers),
            }),
            Self::Press { at } => json!({"action": "left_mouse_down", "coordinate": place(at)}),
            Self::Release { at } => json!({"action": "left_mouse_up", "coordinate": place(at)}),
            Self::Scroll {
                at,
                right,
                down,
                modifiers,
            } => {
                let (direction, amount) = match (*right, *down) {
                    (0, down) if down < 0 => ("up", -down),
                    (0, down) => ("down", down),
                    (right, _) if right < 0 => ("left", -right),
                    (right, _) => ("right", right),
                };
                json!({
                    "action": "scroll",
                    "coordinate": place(at),
                    "scroll_direction": direction,
                    "scroll_amount": amount,
                    "text": names(modifiers),
                })
            }
            Self::Key { chord, times } => json!({
                "action": "key",
                "text": names(&chord.all().collect::<Vec<_>>()),
                "repeat": (*times > 1).then_some(times),
            }),
            Self::HoldKey { chord, duration } => json!({
                "action": "hold_key",
                "text": names(&chord.all().collect::<Vec<_>>()),
                "duration": duration.as_secs_f64(),
            }),
            Self::Type { text } => json!({"action": "type", "text": text}),
            Self::Wait { duration } => {
                json!({"action": "wait", "duration": duration.as_secs_f64()})
            }
            Self::CursorPosition => json!({"action": "cursor_position"}),
            Self::ClipboardRead => json!({"action": "clipboard_read"}),
            Self::ClipboardWrite { text } => json!({"action": "clipboard_write", "text": text}),
        };
        if let Some(map) = arguments.as_object_mut() {
            map.retain(|name, value| {
                let empty = name == "text" && value.as_str() == Some("");
                !value.is_null() && !empty
            });
        }
        arguments
    }
}

/// How arguments are read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The picture positions refer to, once there is one.
    pub frame: Option<&'a FrameGeometry>,
    /// How the model writes positions.
    pub coordinates: Coordinates,
    /// How key names are read.
    pub keys: KeyOptions,
}

/// Reads the arguments of one `computer` call.
pub fn parse(arguments: &Value, reading: Reading<'_>) -> Result<ComputerAction, GuiError> {
    let fields = Fields::of(arguments, reading)?;
    let name = fields.text("action")?;
    let click = |button, times| {
        Ok(ComputerAction::Click {
            button,
            times,
            at: fields.place("coordinate")?,
            modifiers: fields.modifiers()?,
        })
    };
    match name {
        "screenshot" => Ok(ComputerAction::Screenshot {
            monitor: fields.monitor()?,
        }),
        "zoom" => Ok(ComputerAction::Zoom {
            region: fields.region()?,
        }),
        "left_click" => click(Button::Left, 1),
        "right_click" => click(Button::Right, 1),
        "middle_click" => click(Button::Middle, 1),
        "double_click" => click(Button::Left, 2),
        "triple_click" => click(Button::Left, 3),
        "mouse_move" => Ok(ComputerAction::Move {
            to: fields.required_place("coordinate")?,
        }),
        "left_click_drag" => Ok(ComputerAction::Drag {
            from: fields.place("start_coordinate")?,
            to: fields.required_place("coordinate")?,
            modifiers: fields.modifiers()?,
        }),
        "left_mouse_down" => Ok(ComputerAction::Press {
            at: fields.place("coordinate")?,
        }),
        "left_mouse_up" => Ok(ComputerAction::Release {
            at: fields.place("coordinate")?,
        }),
        "scroll" => fields.scroll(),
        "key" => Ok(ComputerAction::Key {
            chord: key::parse_chord(fields.text("text")?, reading.keys)?,
            times: fields.repeat()?,
        }),
        "hold_key" => Ok(ComputerAction::HoldKey {
            chord: key::parse_chord(fields.text("text")?, reading.keys)?,
            duration: fields.duration()?,
        }),
        "type" => Ok(ComputerAction::Type {
            text: fields.long_text()?,
        }),
        "wait" => Ok(ComputerAction::Wait {
            duration: fields.duration()?,
        }),
        "cursor_position" => Ok(ComputerAction::CursorPosition),
        "clipboard_read" => Ok(ComputerAction::ClipboardRead),
        "clipboard_write" => Ok(ComputerAction::ClipboardWrite {
            text: fields.long_text()?,
        }),
        other => Err(GuiError::Arguments(format!(
            "there is no action `{}`; there are {}",
            shortened(&json!(other)).trim_matches('"'),
            schema::ACTIONS.join(", ")
        ))),
    }
}

struct Fields<'a> {
    map: &'a Map<String, Value>,
    reading: Reading<'a>,
}

impl<'a> Fields<'a> {
    fn of(arguments: &'a Value, reading: Reading<'a>) -> Result<Self, GuiError> {
        let map = arguments.as_object().ok_or_else(|| {
            GuiError::Arguments(format!(
                "an object with `action` is expected, not {}",
                shortened(arguments)
            ))
        })?;
        let unknown = map
            .iter()
            .find(|(name, value)| !value.is_null() && !schema::FIELDS.contains(&name.as_str()));
        if let Some((name, _)) = unknown {
            return Err(GuiError::Arguments(format!(
                "there is no argument `{}`; there are {}",
                shortened(&json!(name)).trim_matches('"'),
                schema::FIELDS.join(", ")
            )));
        }
        Ok(Self { map, reading })
    }

    /// A value that was really given: strict schemas make models send `null` for what they leave out.
    fn given(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<&'a str, GuiError> {
        let value = self
            .given(name)
            .ok_or_else(|| GuiError::Arguments(format!("`{name}` is missing")))?;
        value.as_str().ok_or_else(|| wrong(name, "a text", value))
    }

    fn long_text(&self) -> Result<String, GuiError> {
        let text = self.text("text")?;
        if text.is_empty() {
            return Err(GuiError::Arguments("`text` is empty".into()));
        }
        let count = text.chars().count();
        if count > LONGEST_TEXT {
            return Err(GuiError::Arguments(format!(
                "`text` has {count} characters; send at most {LONGEST_TEXT} at a time"
            )));
        }
        Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
    }

    fn repeat(&self) -> Result<u8, GuiError> {
        let Some(value) = self.given("repeat") else {
            return Ok(1);
        };
        value
            .as_u64()
            .filter(|times| (1..=MOST_REPEATS).contains(times))
            .and_then(|times| u8::try_from(times).ok())
            .ok_or_else(|| {
                let range = format!("a whole number from 1 to {MOST_REPEATS}");
                wrong("repeat", &range, value)
            })
    }

    fn monitor(&self) -> Result<Option<String>, GuiError> {
        match self.given("monitor") {
            None => Ok(None),
            Some(Value::String(name)) => Ok(Some(name.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(wrong("monitor", "a monitor's name or number", other)),
        }
    }

    fn frame(&self) -> Result<&'a FrameGeometry, GuiError> {
        self.reading.frame.ok_or_else(|| {
            GuiError::Stale(
                "positions refer to a picture, and none has been taken yet; this one is fresh"
                    .into(),
            )
        })
    }

    fn place(&self, name: &str) -> Result<Place, GuiError> {
        match self.given(name) {
            None => Ok(Place::Pointer),
            Some(value) => {
                let point = self.frame()?.read(value, self.reading.coordinates)?;
                Ok(Place::Sent(point))
            }
        }
    }

    fn required_place(&self, name: &str) -> Result<Place, GuiError> {
        match self.place(name)? {
            Place::Pointer => Err(GuiError::Arguments(format!("`{name}` is missing"))),
            place => Ok(place),
        }
    }

    fn region(&self) -> Result<SentRect, GuiError> {
        let frame = self.frame()?;
        let value = self
            .given("region")
            .ok_or_else(|| GuiError::Arguments("`region` is missing".into()))?;
        let size = frame.sent;
        // Right and bottom edges may be the end of the picture.
        let (last_x, last_y) = match self.reading.coordinates {
            Coordinates::Pixels => (size.width, size.height),
            Coordinates::Thousandths => (1000, 1000),
            Coordinates::Permille => (999, 999),
        };
        let malformed = || {
            GuiError::Point(PointError::Form {
                expected: format!(
                    "[x0, y0, x1, y1], whole numbers with 0 <= x0 < x1 <= {last_x} and \
                     0 <= y0 < y1 <= {last_y}"
                ),
                found: shortened(value),
            })
        };
        let numbers: Vec<u32> = value
            .as_array()
            .filter(|list| list.len() == 4)
            .and_then(|list| {
                list.iter()
                    .map(|entry| entry.as_u64().and_then(|n| u32::try_from(n).ok()))
                    .collect()
            })
            .ok_or_else(malformed)?;
        let [x0, y0, x1, y1] = numbers[..] else {
            return Err(malformed());
        };
        if x0 >= x1 || y0 >= y1 || x1 > last_x || y1 > last_y {
            return Err(malformed());
        }
        let pixel = |at: u32, last: u32, size: u32| {
            u32::try_from(u64::from(at) * u64::from(size) / u64::from(last)).unwrap_or(size)
        };
        let (left, top) = (
            pixel(x0, last_x, size.width),
            pixel(y0, last_y, size.height),
        );
        Ok(SentRect {
            x0: left,
            y0: top,
            x1: pixel(x1, last_x, size.width).max(left + 1),
            y1: pixel(y1, last_y, size.height).max(top + 1),
        })
    }

    fn modifiers(&self) -> Result<Vec<Key>, GuiError> {
        match self.given("text") {
            None => Ok(Vec::new()),
            Some(_) => Ok(key::parse_modifiers(self.text("text")?, self.reading.keys)?),
        }
    }

    fn scroll(&self) -> Result<ComputerAction, GuiError> {
        let direction = self.text("scroll_direction")?;
        let amount = match self.given("scroll_amount") {
            None => 3,
            Some(value) => value
                .as_i64()
                .filter(|amount| (1..=MOST_NOTCHES).contains(amount))
                .ok_or_else(|| {
                    wrong(
                        "scroll_amount",
                        &format!("a whole number of notches from 1 to {MOST_NOTCHES}"),
                        value,
                    )
                })?,
        };
        let amount = i32::try_from(amount).unwrap_or(1);
        let (right, down) = match direction {
            "up" => (0, -amount),
            "down" => (0, amount),
            "left" => (-amount, 0),
            "right" => (amount, 0),
            other => {
                return Err(wrong(
                    "scroll_direction",
                    "`up`, `down`, `left` or `right`",
                    &json!(other),
                ));
            }
        };
        Ok(ComputerAction::Scroll {
            at: self.place("coordinate")?,
            right,
            down,
            modifiers: self.modifiers()?,
        })
    }

    fn duration(&self) -> Result<Duration, GuiError> {
        let Some(value) = self.given("duration") else {
            return Ok(Duration::from_secs(1));
        };
        value
            .as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|duration| *duration <= LONGEST)
            .ok_or_else(|| {
                let range = format!("seconds from 0 to {}", LONGEST.as_secs());
                wrong("duration", &range, value)
            })
    }
}

fn wrong(name: &str, expected: &str, found: &Value) -> GuiError {
    GuiError::Arguments(format!("`{name}` is {expected}, not {}", shortened(found)))
}

#[cfg(test)]
mod tests;
