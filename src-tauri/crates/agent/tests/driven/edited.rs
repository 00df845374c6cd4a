//! A command that a person changes before allowing it, from the question to what the model is told.

use openspace_grounding::Permit;
use openspace_store::{Answer, Decision, RunStatus};
use serde_json::{Value, json};

use crate::world::World;

/// What runs is what the person wrote, letter for letter; the rest of the call stays; the model and
/// the log say so.
#[tokio::test]
async fn what_the_person_wrote_runs() {
    let world = World::new();
    let line = "  ls -l  &&\n\trm draft.txt ";
    let outcome = world
        .run(true, async |question| {
            assert!(question.editable);
            assert!(world.allow(question, line).await.expect("stored"));
        })
        .await;

    assert_eq!(outcome.status, RunStatus::Done);
    let arguments = json!({ "command": line, "timeout_seconds": 9 });
    // Deleting is asked about; the person has allowed it by writing it, and is not asked again.
    assert_eq!(
        *world.ran.lock().expect("lock"),
        [(arguments.clone(), Permit::AfterWait)]
    );
    let (told, is_error) = world.told();
    assert!(!is_error);
    assert!(
        told.starts_with("The person changed the command") && told.contains(line),
        "{told}"
    );
    assert_eq!(
        world.events("step.call_edited"),
        [json!({ "step": 1, "call": "call_1", "tool": "run_command", "arguments": arguments })]
    );
    assert_eq!(
        world.events("step.call_started")[0]["arguments"]["command"],
        "rm old.txt",
        "what was asked for stays in the log"
    );
}

/// An edit allows nothing that no answer allows: neither what is off limits nor what a rule forbids.
#[tokio::test]
async fn what_is_forbidden_stays_forbidden() {
    for line in ["cat ~/.ssh/id_ed25519", "git push", "ls ../data"] {
        let world = World::new();
        world
            .run(true, async |question| {
                assert!(world.allow(question, line).await.expect("stored"));
            })
            .await;

        assert_eq!(*world.ran.lock().expect("lock"), [], "{line} does not run");
        let (told, is_error) = world.told();
        assert!(is_error);
        assert!(
            told.contains("changed the command before allowing it")
                && told.contains(line)
                && told.contains("not allowed: "),
            "{told}"
        );
        let finished = world.events("step.call_finished");
        assert_eq!(finished[0]["failure"], "denied", "{finished:?}");
    }
}

/// A call that takes no other command is asked about as it is.
#[tokio::test]
async fn other_calls_are_asked_about_as_they_are() {
    let world = World::new();
    world
        .run(false, async |question| {
            assert!(!question.editable);
            let refused = world.allow(question.clone(), "ls").await;
            assert!(
                matches!(refused, Err(openspace_store::Error::NotEditable { .. })),
                "{refused:?}"
            );
            let yes = Answer {
                decision: Decision::AllowOnce,
                edited: None,
                note: None,
            };
            let answered = world
                .store
                .call(move |db| db.approvals().answer(&question.id, &yes, "app"))
                .await;
            assert!(answered.expect("stored"));
        })
        .await;

    let ran = world.ran.lock().expect("lock");
    assert_eq!(ran[0].0["command"], "rm old.txt");
    assert_eq!(world.events("step.call_edited"), Vec::<Value>::new());
    let (told, is_error) = world.told();
    assert!(!is_error && told.contains("(no output)"), "{told}");
    assert!(!told.contains("changed"), "{told}");
}
