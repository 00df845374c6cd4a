//! The Secret Service of a Linux desktop (GNOME Keyring, KDE Wallet, KeePassXC) over D-Bus, as the
//! Secret Service API draft 0.2 of freedesktop.org has it: a session, a search, one item.
//!
//! The session is a plain one. Its encryption would hide the item from whoever records the traffic
//! of this user's own bus, and such a program can ask for the item itself.

use std::{collections::HashMap, time::Duration};

use futures_util::StreamExt as _;
use serde::Serialize;
use zbus::{
    Connection, DynamicType, MatchRule, Message, MessageStream, OwnedObjectPath, OwnedVariant,
    Variant, fdo,
};
use zeroize::Zeroizing;

use super::{Answer, KeychainError, LIMIT, Place, Progress, Reading, SERVICE};

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const OF_SERVICE: &str = "org.freedesktop.Secret.Service";
const OF_COLLECTION: &str = "org.freedesktop.Secret.Collection";
const OF_ITEM: &str = "org.freedesktop.Secret.Item";
const OF_PROMPT: &str = "org.freedesktop.Secret.Prompt";
/// The path that stands for none.
const NONE: &str = "/";
/// How long a prompt may stay on the screen after whoever asked has stopped waiting. A password is
/// not typed in three seconds; the next try joins this one.
const PROMPT_LIMIT: Duration = Duration::from_secs(60);

/// A secret on the wire: session, parameters of its encryption, the value, its type.
type Wire = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);
type Result<T, E = KeychainError> = std::result::Result<T, E>;

impl Place {
    pub(super) fn read(&self, account: &str, progress: &Reading) -> Answer {
        self.talk(async |bus| {
            let service = Conversation::open(bus, progress).await?;
            service.read(account).await
        })
    }

    pub(super) fn write(
        &self,
        account: &str,
        label: &str,
        text: &str,
        progress: &Reading,
    ) -> Answer {
        self.talk(async |bus| {
            let service = Conversation::open(bus, progress).await?;
            service.write(account, label, text).await?;
            // What the next process will be given: items with the same name can be there twice.
            service.read(account).await
        })
    }

    fn talk<T>(&self, conversation: impl AsyncFnOnce(&str) -> Result<T>) -> Result<T> {
        let bus = self.bus.as_deref().ok_or(KeychainError::NoBus)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| KeychainError::Refused(error.to_string()))?;
        runtime.block_on(conversation(bus))
    }
}

struct Conversation<'a> {
    connection: Connection,
    session: OwnedObjectPath,
    progress: &'a Reading,
}

impl<'a> Conversation<'a> {
    async fn open(bus: &str, progress: &'a Reading) -> Result<Self> {
        let connecting = zbus::connection::Builder::address(bus)
            .method_timeout(LIMIT)
            .build();
        // A bus that was there once and has gone, or an address that is none.
        let connection = tokio::time::timeout(LIMIT, connecting)
            .await
            .map_err(|_| KeychainError::NoAnswer)?
            .map_err(|_| KeychainError::NoBus)?;
        let mut service = Self {
            connection,
            session: path(NONE)?,
            progress,
        };
        let body = ("plain", Variant::from(""));
        let reply = service.call(ROOT, OF_SERVICE, "OpenSession", &body).await?;
        let (_, session): (OwnedVariant, OwnedObjectPath) = understood(&reply)?;
        service.session = session;
        Ok(service)
    }

    async fn read(&self, account: &str) -> Answer {
        let reply = self
            .call(ROOT, OF_SERVICE, "SearchItems", &attributes(account))
            .await?;
        let (mut open, locked): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) = understood(&reply)?;
        if open.is_empty() && !locked.is_empty() {
            self.unlock(&locked).await?;
            open = locked;
        }
        let Some(item) = open.first() else {
            return Ok(None);
        };
        let reply = self
            .call(item.as_str(), OF_ITEM, "GetSecret", &self.session)
            .await?;
        let (secret,): (Wire,) = (understood(&reply)?,);
        let text = String::from_utf8(secret.2).map_err(|_| KeychainError::Foreign)?;
        Ok(Some(Zeroizing::new(text)))
    }

    async fn write(&self, account: &str, label: &str, text: &str) -> Result<()> {
        let reply = self.call(ROOT, OF_SERVICE, "ReadAlias", &"default").await?;
        let collection: OwnedObjectPath = understood(&reply)?;
        let collection = if collection.as_str() == NONE {
            self.new_collection().await?
        } else {
            collection
        };
        // Harmless where it is open already.
        self.unlock(std::slice::from_ref(&collection)).await?;
        let properties = HashMap::from([
            ("org.freedesktop.Secret.Item.Label", Variant::from(label)),
            (
                "org.freedesktop.Secret.Item.Attributes",
                Variant::from(attributes(account)),
            ),
        ]);
        let secret: Wire = (
            self.session.clone(),
            Vec::new(),
            text.as_bytes().to_vec(),
            "text/plain".to_owned(),
        );
        let body = (properties, secret, true);
        // The person may have needed longer for the password than anybody waited.
        if !self.progress.may_write() {
            return Err(KeychainError::Locked { asking: false });
        }
        let reply = self
            .call(collection.as_str(), OF_COLLECTION, "CreateItem", &body)
            .await?;
        let (_, prompt): (OwnedObjectPath, OwnedObjectPath) = understood(&reply)?;
        self.answer_prompt(&prompt).await.map(drop)
    }

    /// A keychain that was never used has no collection to put things into; it asks for a password.
    async fn new_collection(&self) -> Result<OwnedObjectPath> {
        let label = HashMap::from([(
            "org.freedesktop.Secret.Collection.Label",
            Variant::from("Default"),
        )]);
        let body = (label, "default");
        let reply = self
            .call(ROOT, OF_SERVICE, "CreateCollection", &body)
            .await?;
        let (collection, prompt): (OwnedObjectPath, OwnedObjectPath) = understood(&reply)?;
        match self.answer_prompt(&prompt).await? {
            Some(made) => OwnedObjectPath::try_from(made)
                .map_err(|error| KeychainError::Refused(error.to_string())),
            None => Ok(collection),
        }
    }

    async fn unlock(&self, objects: &[OwnedObjectPath]) -> Result<()> {
        let reply = self.call(ROOT, OF_SERVICE, "Unlock", &objects).await?;
        let (_, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) = understood(&reply)?;
        self.answer_prompt(&prompt).await.map(drop)
    }

    /// Has a prompt shown, if there is one, and waits for the person; what it results in.
    async fn answer_prompt(&self, prompt: &OwnedObjectPath) -> Result<Option<OwnedVariant>> {
        if prompt.as_str() == NONE {
            return Ok(None);
        }
        let rule = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .interface(OF_PROMPT)
            .member("Completed")
            .path(prompt.as_str())
            .build()
            .map_err(|error| explained(&error))?;
        let mut completed = MessageStream::for_match_rule(rule, &self.connection, None)
            .await
            .map_err(|error| explained(&error))?;
        self.progress.set(Progress::Prompting);
        self.call(prompt.as_str(), OF_PROMPT, "Prompt", &"").await?;
        let ended = tokio::select! {
            ended = tokio::time::timeout(PROMPT_LIMIT, completed.next()) => ended,
            () = self.service_gone() => return Err(KeychainError::Died),
        };
        let signal = ended
            .map_err(|_| KeychainError::Locked { asking: false })?
            .ok_or(KeychainError::Died)?
            .map_err(|error| explained(&error))?;
        self.progress.set(Progress::Asked);
        let (dismissed, result): (bool, OwnedVariant) = understood(&signal)?;
        if dismissed {
            return Err(KeychainError::Locked { asking: false });
        }
        Ok(Some(result))
    }

    /// Returns when nobody keeps secrets on the bus any more: a prompt of the dead never completes.
    async fn service_gone(&self) {
        const BUS: &str = "org.freedesktop.DBus";
        loop {
            tokio::time::sleep(Duration::from_millis(250)).await;
            let asked = self
                .connection
                .call_method(
                    Some(BUS),
                    "/org/freedesktop/DBus",
                    Some(BUS),
                    "NameHasOwner",
                    &NAME,
                )
                .await;
            match asked.and_then(|reply| reply.body().deserialize::<bool>()) {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            }
        }
    }

    async fn call<B: Serialize + DynamicType>(
        &self,
        object: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<Message> {
        self.connection
            .call_method(Some(NAME), object, Some(interface), method, body)
            .await
            .map_err(|error| explained(&error))
    }
}

fn attributes(account: &str) -> HashMap<&str, &str> {
    HashMap::from([("service", SERVICE), ("username", account)])
}

fn path(text: &'static str) -> Result<OwnedObjectPath> {
    OwnedObjectPath::try_from(text).map_err(|error| KeychainError::Refused(error.to_string()))
}

fn understood<T>(message: &Message) -> Result<T>
where
    T: for<'de> serde::Deserialize<'de> + zbus::Type,
{
    message.body().deserialize().map_err(|_| {
        KeychainError::Refused("it does not speak the Secret Service protocol".to_owned())
    })
}

/// What a failed call means to a person. The keychain's own words are passed on only where nothing
/// better is known; they name paths and interfaces, never values.
fn explained(error: &zbus::Error) -> KeychainError {
    match error {
        zbus::Error::InputOutput(source) if source.kind() == std::io::ErrorKind::TimedOut => {
            KeychainError::NoAnswer
        }
        zbus::Error::InputOutput(_) => KeychainError::Died,
        zbus::Error::FDO(source) => match source.as_ref() {
            fdo::Error::ServiceUnknown(_)
            | fdo::Error::NameHasNoOwner(_)
            | fdo::Error::FileNotFound(_)
            | fdo::Error::SpawnExecFailed(_)
            | fdo::Error::SpawnForkFailed(_)
            | fdo::Error::SpawnChildExited(_)
            | fdo::Error::SpawnChildSignaled(_)
            | fdo::Error::SpawnFailed(_)
            | fdo::Error::SpawnServiceNotFound(_) => KeychainError::NoService,
            fdo::Error::NoReply(_) | fdo::Error::Disconnected(_) => KeychainError::Died,
            fdo::Error::Timeout(_) | fdo::Error::TimedOut(_) => KeychainError::NoAnswer,
            other => KeychainError::Refused(other.to_string()),
        },
        zbus::Error::MethodError(name, text, _) => match name.as_str() {
            "org.freedesktop.Secret.Error.IsLocked" => KeychainError::Locked { asking: false },
            other => KeychainError::Refused(match text {
                Some(text) => format!("{text} ({other})"),
                None => other.to_owned(),
            }),
        },
        other => KeychainError::Refused(other.to_string()),
    }
}
