//! Telling that a client connected, beside answering it: it never waits for that.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use openspace_app::{Failure, hosts::Introduction};
use rmcp::{
    RoleServer,
    model::Implementation,
    service::{NotificationContext, RequestContext},
};
use tokio_util::task::TaskTracker;

/// The same client is told once in this time, however often it connects to this process.
const AGAIN: Duration = Duration::from_secs(60);
/// More clients than this are told each time.
const REMEMBERED: usize = 100;

type Tell = dyn Fn(Introduction) -> Result<(), Failure> + Send + Sync;

/// Whom to tell, and who was told of already.
#[derive(Default)]
pub(super) struct Introduced {
    tell: Option<Arc<Tell>>,
    told: Mutex<HashMap<(String, String), Instant>>,
    telling: TaskTracker,
}

impl Introduced {
    pub(super) fn to(
        tell: impl Fn(Introduction) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        Self {
            tell: Some(Arc::new(tell)),
            ..Self::default()
        }
    }

    /// A client that shook hands.
    pub(super) fn shook_hands(&self, context: &NotificationContext<RoleServer>) {
        if let Some(peer) = context.peer.peer_info() {
            self.tell(&peer.client_info, peer.protocol_version.as_str());
        }
    }

    /// A client that says who it is with each request, since its protocol has no handshake.
    pub(super) fn asked(&self, context: &RequestContext<RoleServer>) {
        if let Some(client) = context.meta.client_info() {
            let protocol = context.meta.protocol_version();
            let protocol = protocol.as_ref().map_or("", |version| version.as_str());
            self.tell(&client, protocol);
        }
    }

    fn tell(&self, client: &Implementation, protocol: &str) {
        let Some(tell) = &self.tell else { return };
        if !self.is_new(client) {
            return;
        }
        let introduction = Introduction {
            entry: None,
            name: client.name.clone(),
            version: client.version.clone(),
            protocol: protocol.to_owned(),
        };
        let tell = Arc::clone(tell);
        self.telling.spawn_blocking(move || {
            if let Err(failure) = tell(introduction) {
                tracing::info!(%failure, "that a client connected is not kept");
            }
        });
    }

    fn is_new(&self, client: &Implementation) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|_, at| at.elapsed() < AGAIN);
        if told.len() >= REMEMBERED {
            return true;
        }
        let who = (client.name.clone(), client.version.clone());
        told.insert(who, Instant::now()).is_none()
    }

    /// Waits for what is being told, for a client that only looked.
    pub(super) async fn finish(&self) {
        self.telling.close();
        self.telling.wait().await;
    }
}
