//! The screen as a back end.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use openspace_grounding::{Backend, Coordinates, ImageLimits, Tool};

use crate::{
    GuiSession, Input, Screen, TargetRing, Tree,
    key::KeyOptions,
    session::SessionOptions,
    settle::SettleOptions,
    target::OffLimits,
    tool::{GuiTool, Shared, specs},
};

/// What a back end is made of.
pub struct Options {
    /// What can be seen.
    pub screen: Arc<dyn Screen>,
    /// What can be pressed.
    pub input: Box<dyn Input>,
    /// What accessible programs tell about themselves.
    pub tree: Option<Arc<dyn Tree>>,
    /// What the model accepts as pictures.
    pub limits: ImageLimits,
    /// How it writes positions.
    pub coordinates: Coordinates,
    /// It reads pictures. Without, everything goes through the accessibility tree.
    pub vision: bool,
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
    /// `cmd` in key names means control instead of super.
    pub cmd_is_ctrl: bool,
    /// Nothing is done before a picture was taken: for a run that goes on after an interruption, whose
    /// last action may have taken effect.
    pub look_first: bool,
    /// Shows the person where a click goes. `screen` leaves it out of its pictures.
    pub ring: Option<Arc<TargetRing>>,
}

impl Options {
    /// The usual choices for a platform and a model.
    pub fn new(
        screen: Arc<dyn Screen>,
        input: Box<dyn Input>,
        tree: Option<Arc<dyn Tree>>,
        limits: ImageLimits,
    ) -> Self {
        Self {
            screen,
            input,
            tree,
            limits,
            coordinates: Coordinates::Pixels,
            vision: true,
            monitor: None,
            settle: SettleOptions::default(),
            type_delay: Duration::ZERO,
            off_limits: None,
            marker: None,
            cmd_is_ctrl: false,
            look_first: false,
            ring: None,
        }
    }
}

/// The tools `computer`, `computer_batch`, `accessibility_tree` and `click_element` over one screen.
pub struct GuiBackend {
    shared: Arc<Shared>,
    coordinates: Coordinates,
}

impl GuiBackend {
    /// A back end that has not looked yet.
    pub fn new(options: Options) -> Self {
        let coordinates = options.coordinates;
        let session = GuiSession::new(
            options.screen,
            options.input,
            options.tree,
            SessionOptions {
                limits: options.limits,
                coordinates,
                monitor: options.monitor,
                settle: options.settle,
                type_delay: options.type_delay,
                off_limits: options.off_limits,
                marker: options.marker,
                keys: KeyOptions {
                    cmd_is_ctrl: options.cmd_is_ctrl,
                },
                look_first: options.look_first,
                ring: options.ring,
            },
        );
        Self {
            shared: Arc::new(Shared::new(session, options.vision)),
            coordinates,
        }
    }

    /// Waits at most for the event that is being injected: a running call has lost its permission.
    async fn release(&self) {
        let shared = self.shared.clone();
        let released = tokio::task::spawn_blocking(move || shared.lock().release()).await;
        if let Ok(Err(error)) = released {
            tracing::warn!(%error, "keys or buttons could not be released");
        }
    }
}

#[async_trait]
impl Backend for GuiBackend {
    fn name(&self) -> &'static str {
        "gui"
    }

    async fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let shared = self.shared.clone();
        let found = tokio::task::spawn_blocking(move || {
            let session = shared.lock();
            // Without a screen the tools still exist: the call explains what is wrong.
            (session.has_tree(), session.sent_size().ok())
        })
        .await;
        let (tree, size) = found.unwrap_or((false, None));
        specs(self.coordinates, self.shared.vision, tree, size)
            .into_iter()
            .map(|(kind, spec)| -> Arc<dyn Tool> {
                Arc::new(GuiTool {
                    spec,
                    kind,
                    shared: self.shared.clone(),
                })
            })
            .collect()
    }

    async fn halt(&self) {
        self.shared.halt();
        self.release().await;
    }

    async fn close(&self) {
        self.shared.close();
        self.release().await;
    }
}
