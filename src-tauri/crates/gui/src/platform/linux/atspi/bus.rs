//! Single calls on the accessibility bus.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use zbus::Connection;
use zbus::message::Message;
use zbus::{DynamicType, OwnedObjectPath, OwnedVariant};

use crate::InputRect;

const REGISTRY: &str = "org.a11y.atspi.Registry";
const ROOT: &str = "/org/a11y/atspi/accessible/root";
const NULL: &str = "/org/a11y/atspi/null";
const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
const COMPONENT: &str = "org.a11y.atspi.Component";

/// Coordinates from the left upper corner of the screen (`ATSPI_COORD_TYPE_SCREEN`).
const ON_SCREEN: u32 = 0;

/// States by their bit (`AtspiStateType`).
pub(super) const FOCUSED: u32 = 12;
const SENSITIVE: u32 = 24;
const SHOWING: u32 = 25;

/// `ATSPI_ROLE_PASSWORD_TEXT`.
pub(super) const PASSWORD: u32 = 40;

/// An object of a program: bus name and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    name: String,
    path: OwnedObjectPath,
}

/// The states of an object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct States(u64);

impl States {
    pub(super) fn showing(self) -> bool {
        self.has(SHOWING)
    }

    pub(super) fn enabled(self) -> bool {
        self.has(SENSITIVE)
    }

    pub(super) fn focused(self) -> bool {
        self.has(FOCUSED)
    }

    fn has(self, bit: u32) -> bool {
        self.0 & (1 << bit) != 0
    }
}

/// The accessibility bus.
pub(super) struct Bus {
    connection: Connection,
    broken: AtomicBool,
}

impl Bus {
    /// Asks the session bus where the accessibility bus is, and connects.
    pub(super) async fn connect(session_bus: Option<&str>) -> zbus::Result<Self> {
        let builder = match session_bus {
            Some(address) => zbus::connection::Builder::address(address),
            None => zbus::connection::Builder::session(),
        };
        let session = builder.build().await?;
        let reply = session
            .call_method(
                Some("org.a11y.Bus"),
                "/org/a11y/bus",
                Some("org.a11y.Bus"),
                "GetAddress",
                &(),
            )
            .await?;
        let body = reply.body();
        let address: String = body.deserialize()?;
        let connection = zbus::connection::Builder::address(address.as_str())
            .build()
            .await?;
        Ok(Self {
            connection,
            broken: AtomicBool::new(false),
        })
    }

    /// Whether calls still reach the bus.
    pub(super) fn alive(&self) -> bool {
        !self.broken.load(Ordering::Relaxed)
    }

    /// The programs on the bus.
    pub(super) async fn programs(&self) -> Vec<Object> {
        let Ok(path) = OwnedObjectPath::try_from(ROOT) else {
            return Vec::new();
        };
        self.children(&Object {
            name: REGISTRY.into(),
            path,
        })
        .await
    }

    /// The process of a program.
    pub(super) async fn process(&self, program: &Object) -> Option<u32> {
        let bus = "org.freedesktop.DBus";
        let reply = self
            .connection
            .call_method(
                Some(bus),
                "/org/freedesktop/DBus",
                Some(bus),
                "GetConnectionUnixProcessID",
                &program.name,
            )
            .await;
        reply.ok()?.body().deserialize().ok()
    }

    /// What is directly below an object.
    pub(super) async fn children(&self, object: &Object) -> Vec<Object> {
        let Some(reply) = self.call(object, ACCESSIBLE, "GetChildren", &()).await else {
            return Vec::new();
        };
        objects(&reply)
    }

    /// The direct child under a point of the screen.
    pub(super) async fn child_at(&self, object: &Object, x: i32, y: i32) -> Option<Object> {
        let reply = self
            .call(
                object,
                COMPONENT,
                "GetAccessibleAtPoint",
                &(x, y, ON_SCREEN),
            )
            .await?;
        let (name, path): (String, OwnedObjectPath) = reply.body().deserialize().ok()?;
        (path.as_str() != NULL).then_some(Object { name, path })
    }

    /// Where an object is; `None` when it is nowhere.
    pub(super) async fn area(&self, object: &Object) -> Option<InputRect> {
        let reply = self
            .call(object, COMPONENT, "GetExtents", &ON_SCREEN)
            .await?;
        let ((x, y, width, height),): ((i32, i32, i32, i32),) =
            reply.body().deserialize().ok().map(|area| (area,))?;
        let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
        // A thing that is not laid out has a size of zero, or lies at the smallest number.
        (width > 0 && height > 0 && x > i32::MIN && y > i32::MIN).then_some(InputRect {
            x,
            y,
            width,
            height,
        })
    }

    /// The states of an object.
    pub(super) async fn states(&self, object: &Object) -> States {
        let Some(reply) = self.call(object, ACCESSIBLE, "GetState", &()).await else {
            return States::default();
        };
        let words: Vec<u32> = reply.body().deserialize().unwrap_or_default();
        let word = |index: usize| u64::from(words.get(index).copied().unwrap_or(0));
        States(word(0) | word(1) << 32)
    }

    /// The role as a number and in words.
    pub(super) async fn role(&self, object: &Object) -> (u32, String) {
        let (number, words) = tokio::join!(
            self.call(object, ACCESSIBLE, "GetRole", &()),
            self.call(object, ACCESSIBLE, "GetRoleName", &())
        );
        let number = number
            .and_then(|reply| reply.body().deserialize().ok())
            .unwrap_or(0);
        let words: Option<String> = words.and_then(|reply| reply.body().deserialize().ok());
        (number, words.unwrap_or_default().to_lowercase())
    }

    /// The accessible name.
    pub(super) async fn name(&self, object: &Object) -> String {
        let body = (ACCESSIBLE, "Name");
        let reply = self
            .call(object, "org.freedesktop.DBus.Properties", "Get", &body)
            .await;
        let value: Option<OwnedVariant> = reply.and_then(|reply| reply.body().deserialize().ok());
        value
            .and_then(|value| String::try_from(value).ok())
            .unwrap_or_default()
    }

    /// The first `length` characters of what stands in an object, if it holds text.
    pub(super) async fn text(&self, object: &Object, length: i32) -> Option<String> {
        let reply = self
            .call(object, "org.a11y.atspi.Text", "GetText", &(0, length))
            .await?;
        let text: String = reply.body().deserialize().ok()?;
        (!text.is_empty()).then_some(text)
    }

    /// Everything below an object that has a state or a role, in one call; `None` where the
    /// program does not offer that.
    pub(super) async fn matching(
        &self,
        object: &Object,
        state: Option<u32>,
        role: Option<u32>,
    ) -> Option<Vec<Object>> {
        // Bit sets in words; a match type of 1 means all of them, and an empty set matches all.
        let bits = |bit: Option<u32>, words: usize| -> Vec<i32> {
            let mut set = vec![0i32; words];
            if let Some(bit) = bit {
                set[(bit / 32) as usize] |= 1 << (bit % 32);
            }
            set
        };
        let all = 1i32;
        let any = 2i32;
        let wanted = (
            bits(state, 2),
            all,
            HashMap::<String, String>::new(),
            all,
            bits(role, 4),
            if role.is_some() { any } else { all },
            Vec::<String>::new(),
            all,
            false,
        );
        // Sorted as the tree is (1), without a limit (0), with all descendants.
        let body = (wanted, 1u32, 0i32, true);
        let reply = self
            .call(object, "org.a11y.atspi.Collection", "GetMatches", &body)
            .await?;
        Some(objects(&reply))
    }

    async fn call<B: Serialize + DynamicType>(
        &self,
        object: &Object,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Option<Message> {
        let reply = self
            .connection
            .call_method(
                Some(object.name.as_str()),
                &object.path,
                Some(interface),
                method,
                body,
            )
            .await;
        match reply {
            Ok(reply) => Some(reply),
            Err(zbus::Error::InputOutput(_)) => {
                self.broken.store(true, Ordering::Relaxed);
                None
            }
            // Objects come and go, and few offer every interface.
            Err(_) => None,
        }
    }
}

fn objects(reply: &Message) -> Vec<Object> {
    let all: Vec<(String, OwnedObjectPath)> = reply.body().deserialize().unwrap_or_default();
    all.into_iter()
        .filter(|(_, path)| path.as_str() != NULL)
        .map(|(name, path)| Object { name, path })
        .collect()
}
