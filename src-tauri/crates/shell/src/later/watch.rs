//! When is looked: before a sandboxed command starts, every now and then while anything of one
//! lives, after it ended, and when the run closes.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use openspace_grounding::{CallContext, Folders, Keep, ToolError};
use openspace_process::Tree;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    Approval,
    compare::Comparison,
    put_back::undo,
    scan::{Picture, Roots},
};
use crate::{path, running::Running};

/// Shortest time between two looks while commands run.
const OFTEN: Duration = Duration::from_millis(500);
/// Longest.
const SELDOM: Duration = Duration::from_secs(10);
/// A look may take this part of the time.
const SHARE: u32 = 20;
/// Looks in a row, as long as something is found.
const PASSES: usize = 8;
/// Looks while commands run after which those that change such files again and again are ended.
const PATIENCE: u32 = 4;
/// Changes that are told one by one.
const TOLD: usize = 20;

/// What is said to the model with every change that was put back.
const WHY: &str = "such files make something run later, outside the sandbox, so commands in the \
                   sandbox cannot change them; where the task needs it, change the file with \
                   write_file or edit_file, or ask run_command for outside_sandbox: a person is asked";

/// Watches over the files of one run.
pub(crate) struct Watch {
    /// The person's home folder.
    home: PathBuf,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    /// Set while anything that was started in the sandbox may live.
    before: Option<Before>,
    watched: Vec<Watched>,
    /// What was done and not told yet.
    untold: Vec<String>,
    /// It was told that not everything could be looked at.
    told_incomplete: bool,
    /// Looks in a row that found something while commands ran.
    found: u32,
    ticking: bool,
}

struct Before {
    folders: Arc<Folders>,
    roots: Arc<Roots>,
    picture: Arc<Picture>,
    keep: Arc<dyn Keep>,
}

struct Watched {
    tree: Tree,
    approval: Approval,
}

impl Watch {
    pub(crate) fn new(home: PathBuf) -> Self {
        Self {
            home,
            inner: Arc::default(),
        }
    }

    /// Looks, then starts a sandboxed command.
    pub(crate) async fn start(
        &self,
        context: &CallContext,
        approval: Approval,
        start: impl FnOnce() -> Result<Running, ToolError>,
    ) -> Result<Running, ToolError> {
        let mut inner = self.inner.lock().await;
        inner.look(true).await;
        if inner.before.is_none() {
            // Nothing of ours could have changed anything since: whatever is there is the person's.
            inner.before = Some(Before::of(context, &self.home).await?);
        }
        let running = match start() {
            Ok(running) => running,
            Err(error) => {
                inner.forget();
                return Err(error);
            }
        };
        inner.watched.push(Watched {
            tree: running.tree.clone(),
            approval,
        });
        if !inner.ticking {
            inner.ticking = true;
            tokio::spawn(tick(Arc::downgrade(&self.inner)));
        }
        Ok(running)
    }

    /// Looks, and tells everything that was put back since the last time.
    /// `has_ended` is the command this is asked for.
    pub(crate) async fn news(&self, has_ended: bool) -> Option<String> {
        let mut inner = self.inner.lock().await;
        inner.look(has_ended).await;
        inner.tell()
    }

    /// Something a person allowed, done by ourselves to this file: it stays.
    pub(crate) async fn while_changing<T>(
        &self,
        path: &Path,
        change: impl Future<Output = T>,
    ) -> T {
        // Nobody looks in between.
        let mut inner = self.inner.lock().await;
        let watched = inner.before.as_ref();
        if !watched.is_some_and(|before| before.picture.concerns(path)) {
            return change.await;
        }
        inner.look(true).await;
        let result = change.await;
        inner.accept(path).await;
        result
    }

    /// Everything was ended: the last look.
    pub(crate) async fn close(&self) {
        let mut inner = self.inner.lock().await;
        inner.look(true).await;
        inner.watched.clear();
        inner.forget();
        if let Some(news) = inner.tell() {
            tracing::warn!(news, "put back when the run closed");
        }
    }
}

/// Looks as long as something is watched.
async fn tick(inner: Weak<Mutex<Inner>>) {
    let mut pause = OFTEN;
    loop {
        tokio::time::sleep(pause).await;
        let Some(inner) = inner.upgrade() else { return };
        let mut inner = inner.lock().await;
        if inner.watched.is_empty() {
            inner.ticking = false;
            return;
        }
        let begun = Instant::now();
        let found = inner.look(false).await;
        pause = (begun.elapsed() * SHARE).clamp(OFTEN, SELDOM);
        inner.found = if found { inner.found + 1 } else { 0 };
        if inner.found >= PATIENCE {
            inner.end_all().await;
        }
    }
}

impl Before {
    async fn of(context: &CallContext, home: &Path) -> Result<Self, ToolError> {
        let (folders, home) = (Arc::clone(&context.folders), home.to_owned());
        let cancel = context.cancel.clone();
        let look = tokio::task::spawn_blocking(move || {
            let roots = Roots::new(&folders, &home);
            let picture = Picture::take(&roots, None, false, &cancel);
            (Arc::new(roots), Arc::new(picture))
        });
        let (roots, picture) = look.await.map_err(|_| ToolError::Cancelled)?;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        Ok(Self {
            folders: Arc::clone(&context.folders),
            roots,
            picture,
            keep: Arc::clone(&context.keep),
        })
    }

    async fn now(&self, trust_prints: bool) -> Option<Picture> {
        let (roots, picture) = (Arc::clone(&self.roots), Arc::clone(&self.picture));
        let look = move || {
            // Also after a stop: whatever a command changed is put back.
            let never = CancellationToken::new();
            Picture::take(&roots, Some(&picture), trust_prints, &never)
        };
        tokio::task::spawn_blocking(look).await.ok()
    }
}

impl Inner {
    /// Compares and puts back; what has ended is watched no longer. True when something was found.
    async fn look(&mut self, is_thorough: bool) -> bool {
        if self.before.is_none() {
            return false;
        }
        // Before the look: what ended after it could have changed something meanwhile.
        let mut alive = Vec::new();
        for watched in &self.watched {
            let tree = watched.tree.clone();
            let members = tokio::task::spawn_blocking(move || !tree.members().is_empty()).await;
            alive.push(members.unwrap_or(true));
        }
        let mut found = false;
        // The last look at what something wrote has to be a thorough one.
        let is_thorough = is_thorough || alive.contains(&false);
        for _ in 0..PASSES {
            if !self.pass(!is_thorough).await {
                break;
            }
            found = true;
        }
        let mut alive = alive.into_iter();
        self.watched.retain(|_| alive.next().unwrap_or(true));
        self.forget();
        found
    }

    async fn pass(&mut self, trust_prints: bool) -> bool {
        let Some(before) = &mut self.before else {
            return false;
        };
        let Some(after) = before.now(trust_prints).await else {
            return false;
        };
        if after.incomplete && !self.told_incomplete {
            self.told_incomplete = true;
            self.untold.push(
                "looked only at a part of the folders, which hold too many files; what lies deepest \
                 was left out"
                    .to_owned(),
            );
        }
        let approvals: Vec<Approval> = self
            .watched
            .iter()
            .map(|watched| watched.approval.clone())
            .collect();
        let comparison = Comparison {
            roots: &before.roots,
            before: &before.picture,
            after: &after,
            approvals: &approvals,
            is_underway: trust_prints,
        };
        let mut changes = comparison.moved();
        if changes.is_empty() {
            let (more, next) = comparison.changes();
            changes = more;
            before.picture = Arc::new(next);
        }
        let folders = Arc::clone(&before.folders);
        let shown = move |path: &Path| path::shown(path, &folders);
        for change in &changes {
            let done = undo(change, before.keep.as_ref(), &shown).await;
            if !self.untold.contains(&done) {
                self.untold.push(done);
            }
        }
        !changes.is_empty()
    }

    /// Takes a change of ours for what was there before.
    async fn accept(&mut self, path: &Path) {
        let Some(before) = &mut self.before else {
            return;
        };
        let Some(after) = before.now(false).await else {
            return;
        };
        let mut picture = (*before.picture).clone();
        match after.items.get(path) {
            Some(item) => picture.items.insert(path.to_owned(), item.clone()),
            None => picture.items.remove(path),
        };
        before.picture = Arc::new(picture);
    }

    /// Whoever changes such files over and over, each time they were put back, is ended.
    async fn end_all(&mut self) {
        let trees: Vec<Tree> = self
            .watched
            .iter()
            .map(|watched| watched.tree.clone())
            .collect();
        for result in join_all(trees.iter().map(Tree::kill)).await {
            if let Err(error) = result {
                tracing::warn!(%error, "ending a command that keeps changing files");
            }
        }
        self.found = 0;
        self.untold.push(
            "ended the commands that ran, because one of them kept changing such files".to_owned(),
        );
        self.look(true).await;
    }

    /// Nothing is watched: what the person changes from now on is theirs.
    fn forget(&mut self) {
        if self.watched.is_empty() {
            self.before = None;
            self.found = 0;
        }
    }

    fn tell(&mut self) -> Option<String> {
        let mut done = std::mem::take(&mut self.untold);
        if done.is_empty() {
            return None;
        }
        if done.len() > TOLD {
            let more = done.len() - TOLD;
            done.truncate(TOLD);
            done.push(format!("and {more} more"));
        }
        Some(format!("{}; {WHY}", done.join("; ")))
    }
}
