//! A real GTK 3 window with the widgets of a form, run by Debian's Python.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use x11rb::protocol::xproto::{ConnectionExt, InputFocus};

use crate::screen::{Rect, TestScreen};
use crate::spawn::{Spawned, quiet};
use crate::wait::poll;

/// One line of what the window wrote down.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GtkEvent {
    /// `click`, `text`, `toggle`, `select`, `scroll`, `swallowed`, `saved`, `press`, `key`,
    /// `activate`, `ready` or `moved`.
    pub event: String,
    /// The widget's name, for events of a widget.
    pub widget: Option<String>,
    /// The whole text after a change.
    pub text: Option<String>,
    /// Everything else, by name.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// The running window; closed on drop.
///
/// Widgets (name, accessible name): `entry` "Full name", `password` "Password", `notes` "Notes",
/// `subscribe` "Subscribe", `urgent` "Urgent", `save` "Save", `clear` "Clear", `dead`
/// "Submit order" (swallows clicks, shows nothing), `rows` "Cities" with twelve of them,
/// `scroll` "City list", `status` "Status".
#[derive(Debug)]
pub struct GtkTarget {
    process: Spawned,
    log: PathBuf,
    window: u32,
}

impl GtkTarget {
    /// Shows the window, titled `Order form`, and returns when the name entry has the focus.
    pub fn start(screen: &TestScreen) -> Result<Self> {
        Self::titled(screen, "Order form")
    }

    /// As [`GtkTarget::start`], with another title.
    pub fn titled(screen: &TestScreen, title: &str) -> Result<Self> {
        let word = crate::home::random_word();
        let root = screen.home().root();
        let script = root.join("gtk_target.py");
        std::fs::write(&script, include_str!("gtk_target.py"))?;
        let log = root.join(format!("gtk-target-{word}.jsonl"));
        std::fs::write(&log, "")?;
        let errors = root.join(format!("gtk-target-{word}.log"));
        // The system's Python has the bindings; another one in the search path may not.
        let mut command = quiet("/usr/bin/python3", &errors)?;
        command.arg(&script).arg(&log).arg(title);
        let process = Spawned::start(command, &screen.environment_in(screen.home()))?;
        let mut target = Self {
            process,
            log,
            window: 0,
        };
        let ready = target
            .wait_for(Duration::from_secs(30), |event| event.event == "ready")
            .with_context(|| {
                let said = std::fs::read_to_string(&errors).unwrap_or_default();
                format!("the GTK window did not start (python3-gi, gir1.2-gtk-3.0): {said}")
            })?;
        let window = ready.more.get("xid").and_then(Value::as_u64);
        target.window = u32::try_from(window.context("the GTK window has no id")?)?;
        target.focus(screen)?;
        Ok(target)
    }

    /// Its X11 id.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Everything it wrote so far.
    pub fn events(&self) -> Vec<GtkEvent> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be half written.
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Waits for an event; also sees those that already came.
    pub fn wait_for(
        &self,
        limit: Duration,
        matches: impl Fn(&GtkEvent) -> bool,
    ) -> Option<GtkEvent> {
        poll(limit, || {
            self.events().into_iter().find(|event| matches(event))
        })
    }

    /// What stands in `entry`, `password` or `notes` now.
    pub fn text(&self, widget: &str) -> String {
        self.events()
            .into_iter()
            .rev()
            .find(|event| event.event == "text" && event.widget.as_deref() == Some(widget))
            .and_then(|event| event.text)
            .unwrap_or_default()
    }

    /// Waits until a widget's text is `wanted`, and returns the text it then has.
    pub fn wait_for_text(&self, widget: &str, wanted: &str, limit: Duration) -> String {
        poll(limit, || {
            Some(self.text(widget)).filter(|text| text == wanted)
        })
        .unwrap_or_else(|| self.text(widget))
    }

    /// How often a button was clicked (`dead`: how many clicks it swallowed).
    pub fn clicks(&self, widget: &str) -> usize {
        self.events()
            .iter()
            .filter(|event| matches!(event.event.as_str(), "click" | "swallowed"))
            .filter(|event| event.widget.as_deref() == Some(widget))
            .count()
    }

    /// Whether a check box is ticked.
    pub fn ticked(&self, widget: &str) -> bool {
        self.events()
            .iter()
            .rfind(|event| event.event == "toggle" && event.widget.as_deref() == Some(widget))
            .and_then(|event| event.more.get("on")?.as_bool())
            .unwrap_or(false)
    }

    /// The city chosen in the list.
    pub fn selected(&self) -> Option<String> {
        let events = self.events();
        let last = events.iter().rfind(|event| event.event == "select")?;
        Some(last.more.get("item")?.as_str()?.to_owned())
    }

    /// Where a widget is on the screen, in pixels.
    pub fn area(&self, widget: &str) -> Option<Rect> {
        let events = self.events();
        let areas = events
            .iter()
            .rev()
            .find_map(|event| event.more.get("areas"))?;
        let edge = |index: usize| areas.get(widget)?.get(index)?.as_i64();
        Some(Rect::new(
            edge(0)? as i32,
            edge(1)? as i32,
            edge(2)? as u32,
            edge(3)? as u32,
        ))
    }

    fn focus(&self, screen: &TestScreen) -> Result<()> {
        let focused = poll(Duration::from_secs(5), || {
            let connection = screen.connection();
            let focus = connection.get_input_focus().ok()?.reply().ok()?.focus;
            // GTK gives the focus to a hidden child of the window, so any real window will do.
            if focus > 1 {
                return Some(());
            }
            connection
                .set_input_focus(InputFocus::PARENT, self.window, x11rb::CURRENT_TIME)
                .ok()?;
            None
        });
        ensure!(focused.is_some(), "the GTK window did not get the focus");
        Ok(())
    }
}
