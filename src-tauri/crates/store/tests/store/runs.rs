//! Queueing, claiming, fencing and losing runs.

use std::sync::Barrier;

use openspace_store::{
    Error, Fence, Instance, NewApproval, NewArtefact, NewChange, NewEvent, NewFrame, NewRun,
    RunStatus, Store,
};
use serde_json::json;

use crate::{
    child::Part,
    home::{Home, new_instance, new_run},
};

fn statuses(store: &Store, fence: &Fence) -> Vec<String> {
    let run = fence.run().to_string();
    store
        .read_blocking(|db| db.events().of("run", &run, 0, 100))
        .unwrap()
        .into_iter()
        .filter(|event| event.kind == "run.status")
        .map(|event| event.payload["status"].as_str().unwrap().to_owned())
        .collect()
}

/// Of owners that claim the same run at the same moment exactly one wins.
#[test]
fn one_claim_wins() {
    let home = Home::new();
    let stores = [
        home.store.clone(),
        home.another(),
        home.another(),
        home.another(),
    ];
    let instances: Vec<_> = stores
        .iter()
        .map(|store| Instance::register(store, &new_instance()).unwrap())
        .collect();
    for _ in 0..25 {
        let run = home.enqueue();
        let barrier = Barrier::new(stores.len());
        let won: Vec<Fence> = std::thread::scope(|scope| {
            let claims: Vec<_> = stores
                .iter()
                .zip(&instances)
                .map(|(store, instance)| {
                    let (run, barrier) = (&run, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        store
                            .call_blocking(|db| db.runs().claim(run, instance.id()))
                            .unwrap()
                    })
                })
                .collect();
            claims
                .into_iter()
                .filter_map(|claim| claim.join().unwrap())
                .collect()
        });
        assert_eq!(won.len(), 1, "exactly one wins");
        let row = home.store.read_blocking(|db| db.runs().get(&run)).unwrap();
        assert_eq!(
            row.owner.as_ref(),
            Some(won[0].owner()),
            "the winner owns it"
        );
        assert_eq!(row.status, RunStatus::Planning);
        assert_eq!(
            statuses(&home.store, &won[0]),
            ["queued", "planning"],
            "told once"
        );
    }
}

/// The run queued first is claimed first, and an empty queue gives nothing.
#[test]
fn the_queue_is_in_order() {
    let home = Home::new();
    let instance = home.instance();
    let queued = [home.enqueue(), home.enqueue(), home.enqueue()];
    let mut claimed = Vec::new();
    while let Some(fence) = home
        .store
        .call_blocking(|db| db.runs().claim_next(instance.id()))
        .unwrap()
    {
        claimed.push(fence.run().clone());
    }
    assert_eq!(claimed, queued);
    assert!(
        !home
            .store
            .read_blocking(|db| db.runs().any_queued())
            .unwrap()
    );
}

/// A run ends with its outcome, and nothing can be written to it afterwards.
#[test]
fn a_run_from_queue_to_end() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    home.store
        .call_blocking(|db| {
            let runs = db.runs();
            runs.set_status(&fence, RunStatus::Running, None)?;
            runs.set_status(&fence, RunStatus::Running, None)?;
            runs.set_status(&fence, RunStatus::Paused, Some("screen_locked"))?;
            runs.set_status(&fence, RunStatus::Running, None)?;
            runs.set_step(&fence, 3, "click Save")
        })
        .unwrap();
    let refused = home
        .store
        .call_blocking(|db| db.runs().set_status(&fence, RunStatus::Done, None));
    assert!(
        matches!(refused, Err(Error::WrongStatus { .. })),
        "ending is `finish`: {refused:?}"
    );
    home.time.store(9_000, std::sync::atomic::Ordering::SeqCst);

    let outcome = json!({ "answer": "12 files" });
    home.store
        .call_blocking(|db| {
            db.runs()
                .finish(&fence, RunStatus::Done, None, Some(&outcome))
        })
        .unwrap();

    let row = home
        .store
        .read_blocking(|db| db.runs().get(fence.run()))
        .unwrap();
    assert_eq!(
        (row.status, row.owner, row.runner.as_ref(), row.outcome),
        (RunStatus::Done, None, Some(instance.id()), Some(outcome))
    );
    assert_eq!(
        (row.step, row.step_label.as_deref()),
        (3, Some("click Save"))
    );
    assert_eq!(
        (row.created_at, row.started_at, row.ended_at),
        (1_000, Some(1_000), Some(9_000))
    );
    assert_eq!(
        statuses(&home.store, &fence),
        ["queued", "planning", "running", "paused", "running", "done"],
        "saying the same twice tells once"
    );
    assert_lost(&home.store, &fence);
    let again = home
        .store
        .call_blocking(|db| db.runs().continue_run(fence.run()));
    assert!(
        matches!(again, Err(Error::WrongStatus { .. })),
        "done is done"
    );
}

/// Every write of a runner that lost its run is refused.
fn assert_lost(store: &Store, fence: &Fence) {
    let approval = NewApproval {
        step: 1,
        call: "c".to_owned(),
        question: json!({}),
        risk: "low".to_owned(),
        irreversible: false,
        editable: true,
    };
    let event = NewEvent::of_run(fence.run(), "run.step", json!({}));
    let before = store.read_blocking(|db| db.events().last_id()).unwrap();
    let lost = [
        store.call_blocking(|db| db.runs().set_status(fence, RunStatus::Running, None)),
        store.call_blocking(|db| db.runs().set_step(fence, 9, "late")),
        store.call_blocking(|db| db.runs().set_settings(fence, &json!({}))),
        store.call_blocking(|db| db.runs().finish(fence, RunStatus::Done, None, None)),
        store.call_blocking(|db| db.events().append_fenced(fence, event).map(drop)),
        store.call_blocking(|db| {
            db.messages()
                .append_fenced(fence, "assistant", &json!("late"))
                .map(drop)
        }),
        store.call_blocking(|db| db.approvals().ask(fence, &approval).map(drop)),
        store.call_blocking(|db| db.commands().acknowledge(fence, 1)),
        store.read_blocking(|db| db.commands().take(fence, 0).map(drop)),
        store.keep_frame(fence, &picture()).map(drop),
        store.keep_artefact(fence, &report()).map(drop),
        store.keep_change(fence, &change()).map(drop),
    ];
    for (number, result) in lost.into_iter().enumerate() {
        assert!(
            matches!(result, Err(Error::LostRun { .. })),
            "write {number} gave {result:?}"
        );
    }
    let after = store.read_blocking(|db| db.events().last_id()).unwrap();
    assert_eq!(before, after, "nothing was told");
    let staged = std::fs::read_dir(store.folder().join("staging"))
        .unwrap()
        .count();
    assert_eq!(staged, 0, "no file is left behind");
}

fn picture() -> NewFrame {
    NewFrame {
        step: 1,
        media_type: "image/png".to_owned(),
        data: b"png"[..].into(),
        width: 1,
        height: 1,
        display: ":0".to_owned(),
        geometry: json!({}),
        hash: String::new(),
    }
}

fn report() -> NewArtefact {
    NewArtefact {
        step: 1,
        name: "report.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        data: b"text"[..].into(),
    }
}

fn change() -> NewChange {
    NewChange {
        step: 1,
        path: "/nowhere".into(),
        kind: openspace_store::ChangeKind::Modified,
        before: Some(b"old"[..].into()),
    }
}

/// A run whose process was killed becomes interrupted, once, and can be continued by another.
#[test]
fn a_killed_runner_leaves_an_interrupted_run() {
    let home = Home::new();
    let run = home.enqueue();
    let mut child = Part::play("execute", home.folder());
    assert_eq!(child.hear(), run.as_str(), "the child claimed it");
    let orphans = home
        .store
        .call_blocking(|db| db.runs().mark_orphans())
        .unwrap();
    assert_eq!(orphans, [], "a living runner keeps its run");
    assert!(
        !home
            .store
            .read_blocking(|db| db.runs().any_orphans())
            .unwrap()
    );
    assert_eq!(
        home.store
            .read_blocking(|db| db.instances().alive())
            .unwrap()
            .len(),
        1
    );

    child.kill();

    assert!(
        home.store
            .read_blocking(|db| db.runs().any_orphans())
            .unwrap()
    );
    let stores = [home.store.clone(), home.another(), home.another()];
    let marked: usize = std::thread::scope(|scope| {
        let marks: Vec<_> = stores
            .iter()
            .map(|store| {
                scope.spawn(|| {
                    store
                        .call_blocking(|db| db.runs().mark_orphans())
                        .unwrap()
                        .len()
                })
            })
            .collect();
        marks.into_iter().map(|mark| mark.join().unwrap()).sum()
    });
    assert_eq!(marked, 1, "only one of those who look marks it");
    let row = home.store.read_blocking(|db| db.runs().get(&run)).unwrap();
    assert_eq!(
        (row.status, row.reason.as_deref(), row.owner),
        (RunStatus::Interrupted, Some("runner_gone"), None)
    );
    assert_eq!(
        home.store
            .read_blocking(|db| db.instances().alive())
            .unwrap(),
        []
    );

    let instance = home.instance();
    let early = home
        .store
        .call_blocking(|db| db.runs().claim(&run, instance.id()))
        .unwrap();
    assert_eq!(
        early, None,
        "it is claimed only after somebody continues it"
    );
    home.store
        .call_blocking(|db| db.runs().continue_run(&run))
        .unwrap();
    let fence = home
        .store
        .call_blocking(|db| db.runs().claim(&run, instance.id()))
        .unwrap();
    assert_eq!(
        statuses(&home.store, &fence.unwrap()),
        ["queued", "planning", "interrupted", "queued", "planning"]
    );
}

/// A fence is void after its run was lost, also when the same instance claims the run again.
#[test]
fn an_old_fence_stays_void() {
    let home = Home::new();
    let instance = home.instance();
    let old = home.claimed(&instance);
    home.store
        .call_blocking(|db| {
            db.runs()
                .finish(&old, RunStatus::Interrupted, Some("sleep"), None)
        })
        .unwrap();
    assert_lost(&home.store, &old);
    home.store
        .call_blocking(|db| db.runs().continue_run(old.run()))
        .unwrap();
    let new = home
        .store
        .call_blocking(|db| db.runs().claim(old.run(), instance.id()))
        .unwrap()
        .unwrap();
    assert_lost(&home.store, &old);
    home.store
        .call_blocking(|db| db.runs().set_step(&new, 1, "again"))
        .unwrap();
}

/// Stopping a run that nobody executes ends it at once; telling an ended run anything is refused.
#[test]
fn stopping_a_queued_run() {
    let home = Home::new();
    let run = home.enqueue();
    let stop = || {
        home.store.call_blocking(|db| {
            db.commands()
                .give(&run, openspace_store::CommandKind::Stop, &json!({}), "cli")
        })
    };
    stop().unwrap();
    let row = home.store.read_blocking(|db| db.runs().get(&run)).unwrap();
    assert_eq!(row.status, RunStatus::Stopped);
    assert!(
        !home
            .store
            .read_blocking(|db| db.runs().any_queued())
            .unwrap()
    );
    assert!(matches!(
        stop(),
        Err(Error::WrongStatus {
            status: RunStatus::Stopped,
            ..
        })
    ));
}

/// A request repeated with its key gives the first run; without a key it gives another.
#[test]
fn idempotent_requests() {
    let home = Home::new();
    let keyed = NewRun {
        idempotency_key: Some("k1".to_owned()),
        ..new_run()
    };
    let enqueue = |new: &NewRun| {
        home.store
            .call_blocking(|db| db.runs().enqueue(new))
            .unwrap()
    };
    let first = enqueue(&keyed);
    let second = enqueue(&keyed);
    assert_eq!(
        (&second.run, second.existed, first.existed),
        (&first.run, true, false)
    );
    let elsewhere = enqueue(&NewRun {
        origin: "mcp:codex".to_owned(),
        ..keyed
    });
    assert_ne!(elsewhere.run, first.run, "keys belong to their origin");
    assert_ne!(enqueue(&new_run()).run, enqueue(&new_run()).run);
    let session = home
        .store
        .read_blocking(|db| db.sessions().get(&first.session))
        .unwrap();
    assert_eq!(
        session.title, "Count the files",
        "the first line is the title"
    );
}

/// Another run of a task repeats its limits and settings.
#[test]
fn a_task_runs_again() {
    let home = Home::new();
    let first = home
        .store
        .call_blocking(|db| db.runs().enqueue(&new_run()))
        .unwrap();
    let again = home
        .store
        .call_blocking(|db| db.runs().enqueue_again(&first.task))
        .unwrap();
    assert_eq!((&again.task, &again.session), (&first.task, &first.session));
    let row = home
        .store
        .read_blocking(|db| db.runs().get(&again.run))
        .unwrap();
    assert_eq!(
        (row.limits, row.settings),
        (json!({ "steps": 5 }), json!({ "model": "plan" }))
    );
}
