//! What is said to a run while it ends.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use openspace_agent::Outcome;
use openspace_grounding::{Backend, Tool};
use openspace_llm::Content;
use openspace_store::{Error, Fence, RunStatus, Store};

use crate::world::World;

/// Something that takes its time to end, during which the person says something.
struct Slow {
    store: Store,
    fence: Fence,
    /// Said when the run has its answer and has not said so yet.
    early: Mutex<Option<&'static str>>,
    /// What became of what is said while it closes.
    answered: Mutex<Option<openspace_store::Result<i64>>>,
}

#[async_trait]
impl Backend for Slow {
    fn name(&self) -> &'static str {
        "shell"
    }

    async fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    async fn halt(&self) {
        if let Some(text) = self.early.lock().expect("lock").take() {
            World::say(&self.store, &self.fence, text).expect("it is going");
        }
    }

    async fn close(&self) {
        let said = World::say(&self.store, &self.fence, "And now in bold.");
        *self.answered.lock().expect("lock") = Some(said);
    }
}

/// A run with nothing to do but to end.
fn ending(early: Option<&'static str>) -> (World, Arc<Slow>) {
    let mut world = World::idle();
    let slow = Arc::new(Slow {
        store: world.store.clone(),
        fence: world.fence.clone(),
        early: Mutex::new(early),
        answered: Mutex::default(),
    });
    world.backends.push(Arc::clone(&slow) as Arc<dyn Backend>);
    (world, slow)
}

fn unheard(world: &World) -> usize {
    let open = world
        .store
        .read_blocking(|db| db.commands().open(world.fence.run()));
    open.expect("readable").len()
}

fn is_done(outcome: &Outcome) {
    assert_eq!(
        (outcome.status, outcome.answer.as_str()),
        (RunStatus::Done, "That is settled.")
    );
}

/// What comes with the very last words of the model is heard: the run goes on with it.
#[tokio::test(flavor = "multi_thread")]
async fn words_that_come_with_the_answer_are_heard() {
    let (world, _slow) = ending(Some("Also bold."));

    let outcome = world.drive(false).await;

    is_done(&outcome);
    let heard = world.model.heard.lock().expect("lock").clone();
    let last = &heard.last().expect("asked again").content;
    assert_eq!(*last, [Content::Text("Also bold.".into())]);
    assert_eq!((outcome.used.steps, unheard(&world)), (2, 0));
}

/// A run that has its answer takes no more words, also while it still closes what it had open: nobody
/// would hear them. Before and without an answer they wait for whoever continues it.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_with_its_answer_hears_nothing_more() {
    let (world, slow) = ending(None);

    is_done(&world.drive(false).await);

    let while_closing = slow.answered.lock().expect("lock").take();
    let afterwards = World::say(&world.store, &world.fence, "And in red.");
    for said in [while_closing.expect("it closed"), afterwards] {
        assert!(matches!(said, Err(Error::Answered { .. })), "{said:?}");
    }
    assert_eq!(unheard(&world), 0);
}
