//! What is said to a run while it ends.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use openspace_agent::Outcome;
use openspace_grounding::{Backend, Tool};
use openspace_llm::Content;
use openspace_store::{Error, Fence, RunStatus, Store};

use crate::world::World;

/// Something that takes its time to close, during which the person says something.
struct Slow {
    store: Store,
    fence: Fence,
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

    async fn close(&self) {
        let said = World::say(&self.store, &self.fence, "And now in bold.");
        *self.answered.lock().expect("lock") = Some(said);
    }
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
    let world = World::idle();
    let (store, fence) = (world.store.clone(), world.fence.clone());
    *world.model.meanwhile.lock().expect("lock") = Some(Box::new(move || {
        World::say(&store, &fence, "Also bold.").expect("it is going");
    }));

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
    let mut world = World::idle();
    let slow = Arc::new(Slow {
        store: world.store.clone(),
        fence: world.fence.clone(),
        answered: Mutex::default(),
    });
    world.backends.push(Arc::clone(&slow) as Arc<dyn Backend>);

    is_done(&world.drive(false).await);

    let while_closing = slow.answered.lock().expect("lock").take();
    let afterwards = World::say(&world.store, &world.fence, "And in red.");
    for said in [while_closing.expect("it closed"), afterwards] {
        assert!(matches!(said, Err(Error::Answered { .. })), "{said:?}");
    }
    assert_eq!(unheard(&world), 0);
}
