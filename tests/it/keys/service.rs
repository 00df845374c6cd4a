//! A Secret Service that counts, and that misbehaves as it is told to.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
};

use futures_util::StreamExt as _;
use zbus::{Connection, Message, MessageStream, OwnedObjectPath, OwnedVariant, Variant};

const NONE: &str = "/";
const COLLECTION: &str = "/org/freedesktop/secrets/collection/login";
const SESSION: &str = "/org/freedesktop/secrets/session/1";
const PROMPT: &str = "/org/freedesktop/secrets/prompt/1";

/// How it behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// As it should.
    Well,
    /// It answers nothing.
    Hangs,
    /// It answers everything but this.
    HangsAt(&'static str),
    /// It leaves the bus instead of answering this.
    DiesAt(&'static str),
    /// It is locked, and the person closes its prompt.
    PromptClosed,
    /// It is locked, and nobody answers its prompt before [`FakeKeychain::unlock`].
    PromptIgnored,
    /// It says that it keeps something and gives back something else.
    GivesAnother,
}

/// An item: attributes and value.
type Item = (HashMap<String, String>, Vec<u8>);
type Wire = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

/// What it keeps, which outlives it as a file would.
#[derive(Debug, Clone, Default)]
pub(super) struct Items(Arc<Mutex<Vec<Item>>>);

impl Items {
    pub(super) fn all(&self) -> Vec<Item> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Keeps an item, in place of the one with the same attributes if that is wished, and says where.
    fn put(
        &self,
        attributes: HashMap<String, String>,
        value: Vec<u8>,
        replace: bool,
    ) -> OwnedObjectPath {
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if replace {
            items.retain(|(old, _)| *old != attributes);
        }
        items.push((attributes, value));
        item(items.len() - 1)
    }

    pub(super) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// Takes the name that secrets are asked for under; one that has just ended may still be on the bus.
async fn take_name(connection: &Connection) {
    const BUS: &str = "org.freedesktop.DBus";
    const DO_NOT_QUEUE: u32 = 4;
    const OWNER: u32 = 1;
    for _ in 0..1_000 {
        let body = ("org.freedesktop.secrets", DO_NOT_QUEUE);
        let reply = connection
            .call_method(
                Some(BUS),
                "/org/freedesktop/DBus",
                Some(BUS),
                "RequestName",
                &body,
            )
            .await
            .expect("the bus answers");
        if reply.body().deserialize::<u32>().expect("a number") == OWNER {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the name stays taken");
}

/// That the person has given the password.
#[derive(Default)]
struct Unlocked {
    now: AtomicBool,
    told: tokio::sync::Notify,
}

/// The service, gone when dropped.
pub(super) struct FakeKeychain {
    calls: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    prompts: Arc<AtomicUsize>,
    unlocked: Arc<Unlocked>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl FakeKeychain {
    /// Serves `items` on a bus.
    pub(super) fn start(bus: &str, mood: Mood, items: &Items) -> Self {
        let (calls, reads, prompts) = (Arc::default(), Arc::default(), Arc::default());
        let unlocked = Arc::<Unlocked>::default();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (up, is_up) = mpsc::channel();
        let serving = Serving {
            mood,
            items: items.clone(),
            calls: Arc::clone(&calls),
            reads: Arc::clone(&reads),
            prompts: Arc::clone(&prompts),
            unlocked: Arc::clone(&unlocked),
        };
        let bus = bus.to_owned();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            // Its end takes the connection along, as that of a process would.
            runtime.block_on(async {
                let connection = zbus::connection::Builder::address(bus.as_str())
                    .build()
                    .await
                    .expect("the bus");
                let messages = MessageStream::from(connection.clone());
                take_name(&connection).await;
                up.send(()).expect("the test waits");
                tokio::select! {
                    () = serving.serve(&connection, messages) => {}
                    _ = stopped => {}
                }
            });
        });
        is_up
            .recv_timeout(std::time::Duration::from_secs(20))
            .expect("it is on the bus");
        Self {
            calls,
            reads,
            prompts,
            unlocked,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Calls of any kind so far.
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// How often the value of an item was asked for.
    pub(super) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// How often a prompt was shown.
    pub(super) fn prompts(&self) -> usize {
        self.prompts.load(Ordering::SeqCst)
    }

    /// The person answers the prompts that are shown, and none is needed any more.
    pub(super) fn unlock(&self) {
        self.unlocked.now.store(true, Ordering::SeqCst);
        self.unlocked.told.notify_one();
    }
}

impl Drop for FakeKeychain {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _gone = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

struct Serving {
    mood: Mood,
    items: Items,
    calls: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    prompts: Arc<AtomicUsize>,
    unlocked: Arc<Unlocked>,
}

impl Serving {
    /// Answers until it dies.
    async fn serve(&self, bus: &Connection, mut messages: MessageStream) {
        loop {
            let message = tokio::select! {
                message = messages.next() => message,
                () = self.unlocked.told.notified() => {
                    prompt_ends(bus, false).await.expect("a signal is sent");
                    continue;
                }
            };
            let Some(Ok(message)) = message else { return };
            if message.message_type() != zbus::message::Type::MethodCall {
                continue;
            }
            let header = message.header();
            let member = header.member().map(ToString::to_string).unwrap_or_default();
            self.calls.fetch_add(1, Ordering::SeqCst);
            match self.mood {
                Mood::Hangs => continue,
                Mood::HangsAt(method) if method == member => continue,
                Mood::DiesAt(method) if method == member => return,
                _ => {}
            }
            self.answer(bus, &message, &member)
                .await
                .expect("an answer is sent");
        }
    }

    fn locked(&self) -> bool {
        matches!(self.mood, Mood::PromptClosed | Mood::PromptIgnored)
            && !self.unlocked.now.load(Ordering::SeqCst)
    }

    async fn answer(&self, bus: &Connection, call: &Message, member: &str) -> zbus::Result<()> {
        let header = call.header();
        let body = call.body();
        match member {
            "OpenSession" => {
                let (algorithm, _): (String, OwnedVariant) = body.deserialize()?;
                assert_eq!(algorithm, "plain");
                bus.reply(&header, &(Variant::from(""), path(SESSION)))
                    .await
            }
            "SearchItems" => {
                let wanted: HashMap<String, String> = body.deserialize()?;
                let found: Vec<_> = self
                    .items
                    .all()
                    .iter()
                    .enumerate()
                    .filter(|(_, (attributes, _))| {
                        wanted
                            .iter()
                            .all(|(name, value)| attributes.get(name) == Some(value))
                    })
                    .map(|(index, _)| item(index))
                    .collect();
                let none = Vec::<OwnedObjectPath>::new();
                if self.locked() {
                    bus.reply(&header, &(none, found)).await
                } else {
                    bus.reply(&header, &(found, none)).await
                }
            }
            "Unlock" => {
                let objects: Vec<OwnedObjectPath> = body.deserialize()?;
                if self.locked() {
                    let none = Vec::<OwnedObjectPath>::new();
                    bus.reply(&header, &(none, path(PROMPT))).await
                } else {
                    bus.reply(&header, &(objects, path(NONE))).await
                }
            }
            "Prompt" => {
                self.prompts.fetch_add(1, Ordering::SeqCst);
                bus.reply(&header, &()).await?;
                if self.mood == Mood::PromptClosed {
                    prompt_ends(bus, true).await?;
                }
                Ok(())
            }
            "ReadAlias" => bus.reply(&header, &path(COLLECTION)).await,
            "GetSecret" => {
                self.reads.fetch_add(1, Ordering::SeqCst);
                let index = header
                    .path()
                    .and_then(|path| path.as_str().rsplit('/').next()?.parse::<usize>().ok())
                    .expect("an item");
                let mut value = self.items.all()[index].1.clone();
                if self.mood == Mood::GivesAnother {
                    value.reverse();
                }
                let secret = (path(SESSION), Vec::<u8>::new(), value, "text/plain");
                bus.reply(&header, &(secret,)).await
            }
            "CreateItem" => {
                let (mut properties, secret, replace): (HashMap<String, OwnedVariant>, Wire, bool) =
                    body.deserialize()?;
                let attributes = properties
                    .remove("org.freedesktop.Secret.Item.Attributes")
                    .expect("attributes");
                let attributes: HashMap<String, String> = attributes.try_into()?;
                let made = self.items.put(attributes, secret.2, replace);
                bus.reply(&header, &(made, path(NONE))).await
            }
            other => panic!("nobody needs `{other}`"),
        }
    }
}

async fn prompt_ends(bus: &Connection, dismissed: bool) -> zbus::Result<()> {
    bus.emit_signal(
        None::<&str>,
        PROMPT,
        "org.freedesktop.Secret.Prompt",
        "Completed",
        &(dismissed, Variant::from("")),
    )
    .await
}

fn path(text: &str) -> OwnedObjectPath {
    OwnedObjectPath::try_from(text.to_owned()).expect("a path")
}

fn item(index: usize) -> OwnedObjectPath {
    path(&format!("{COLLECTION}/{index}"))
}
