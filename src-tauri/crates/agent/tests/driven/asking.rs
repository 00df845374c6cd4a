//! Questions that wait while the store has trouble.

use std::time::Duration;

use openspace_grounding::Permit;
use openspace_store::{Answer, ApprovalState, Decision, NewEvent, NewRun, RunStatus};
use serde_json::{Value, json};

use crate::world::World;

/// Events that cannot be read are no answer: the question stays open until somebody gives one.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_read_answers_nothing() {
    let world = World::new();
    // What is nested so deeply is written, and no reader takes it.
    let deep = (0..200).fold(Value::Null, |inner, _| json!([inner]));
    let outcome = world
        .run(false, async |question| {
            world
                .store
                .call(move |db| {
                    let other = db.runs().enqueue(&NewRun {
                        session: None,
                        text: "Something else".into(),
                        origin: "cli".into(),
                        parent: None,
                        idempotency_key: None,
                        limits: json!({}),
                        settings: json!({}),
                    })?;
                    let damaged = NewEvent::of_run(&other.run, "test.damaged", deep);
                    db.events().append(damaged).map(drop)
                })
                .await
                .expect("stored");
            let last = world.store.read(|db| db.events().after(0, 1_000)).await;
            assert!(last.is_err(), "it cannot be read");
            tokio::time::sleep(Duration::from_millis(500)).await;
            let id = question.id.clone();
            let open = world.store.read(move |db| db.approvals().get(&id)).await;
            assert_eq!(open.expect("readable").state, ApprovalState::Open);
            let yes = Answer {
                decision: Decision::AllowOnce,
                edited: None,
                note: None,
            };
            let answered = world
                .store
                .call(move |db| db.approvals().answer(&question.id, &yes, "app"))
                .await;
            assert!(answered.expect("stored"), "it is the first answer");
        })
        .await;

    assert_eq!(outcome.status, RunStatus::Done);
    let ran = world.ran.lock().expect("lock");
    let (arguments, permit) = &ran[0];
    assert_eq!(arguments["command"], "rm old.txt");
    assert_eq!(*permit, Permit::AfterWait);
}
