//! Events, watches and commands between processes.

use std::{collections::HashMap, time::Duration};

use openspace_store::{CommandKind, CommandWatch, Error, Event, Fence, NewEvent, RunStatus, Store};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    child::{Part, write_in_threads},
    home::{Home, event, eventually},
};

fn all(store: &Store) -> Vec<Event> {
    store
        .read_blocking(|db| db.events().after(0, u32::MAX))
        .unwrap()
}

/// `seq` counts from 1 without gaps for every subject.
fn assert_gapless(events: &[Event]) {
    let mut last: HashMap<(&str, &str), i64> = HashMap::new();
    for event in events {
        let seq = last.entry((&event.topic, &event.key)).or_default();
        *seq += 1;
        assert_eq!(event.seq, *seq, "a gap or a repetition at {event:?}");
    }
}

/// Two watches see every event of two processes with four writing threads each, in order.
#[tokio::test]
async fn watches_miss_and_repeat_nothing() {
    let home = Home::new();
    let other = home.another();
    let mut watches = [home.store.watch(0).unwrap(), other.watch(0).unwrap()];
    let child = Part::play("write", home.folder());
    let writer = std::thread::spawn({
        let store = home.store.clone();
        move || write_in_threads(&store, "here")
    });

    for watch in &mut watches {
        let mut seen = Vec::new();
        while seen.len() < 800 {
            seen.push(
                timeout(Duration::from_secs(60), watch.next())
                    .await
                    .unwrap()
                    .unwrap(),
            );
        }
        assert!(
            seen.is_sorted_by(|a, b| a.id < b.id),
            "the order of ids is the order of telling"
        );
        assert_gapless(&seen);
        assert_eq!(watch.cursor(), seen[799].id, "the cursor follows");
        assert_eq!(seen, all(&home.store), "what was told is what is stored");
        assert!(
            timeout(Duration::from_millis(60), watch.next())
                .await
                .is_err(),
            "nothing is told twice"
        );
    }
    writer.join().unwrap();
    child.finish();
    let shared = all(&home.store)
        .iter()
        .filter(|event| event.key == "shared")
        .count();
    assert_eq!(shared, 400, "both processes wrote to the shared subject");
}

/// A watch begins behind its cursor, and one that was given up while waiting has lost nothing.
#[tokio::test]
async fn a_watch_continues_from_its_cursor() {
    let home = Home::new();
    let first = home
        .store
        .call(|db| db.events().append(event("a", 1)))
        .await
        .unwrap();
    let mut watch = home.store.watch(first.id).unwrap();
    assert!(
        timeout(Duration::from_millis(50), watch.next())
            .await
            .is_err(),
        "nothing new yet"
    );

    let second = home
        .another()
        .call(|db| db.events().append(event("a", 2)))
        .await
        .unwrap();

    let told = timeout(Duration::from_secs(10), watch.next())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(told, second);
    assert_eq!(told.seq, 2);
}

/// A call that fails leaves no event, tells nobody and leaves no gap.
#[tokio::test]
async fn a_failed_call_never_happened() {
    let home = Home::new();
    let mut watch = home.store.watch(0).unwrap();
    let failed = home
        .store
        .call(|db| {
            db.events().append(event("a", 1))?;
            Err::<(), _>(Error::ShuttingDown)
        })
        .await;
    assert!(matches!(failed, Err(Error::ShuttingDown)));
    assert!(
        timeout(Duration::from_millis(60), watch.next())
            .await
            .is_err(),
        "nothing was told"
    );

    let kept = home
        .store
        .call(|db| db.events().append(event("a", 2)))
        .await
        .unwrap();

    assert_eq!(kept.seq, 1, "the failed one took no number");
    let told = timeout(Duration::from_secs(10), watch.next())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(told, kept);
    assert_eq!(all(&home.store), [kept]);
}

/// A panic inside a call rolls it back and leaves the store usable.
#[test]
fn a_panic_rolls_back() {
    let home = Home::new();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        home.store
            .call_blocking(|db| -> openspace_store::Result<()> {
                db.events().append(event("a", 1))?;
                panic!("on purpose");
            })
    }));
    assert!(panicked.is_err());
    home.store
        .call_blocking(|db| db.events().append(event("a", 2)))
        .unwrap();
    assert_eq!(all(&home.store).len(), 1, "only the second one is there");
}

/// A reading call cannot write.
#[test]
fn reading_calls_cannot_write() {
    let home = Home::new();
    let refused = home
        .store
        .read_blocking(|db| db.events().append(event("a", 1)));
    assert!(matches!(refused, Err(Error::ReadOnly)), "{refused:?}");
}

/// Killing a process in the middle of its writes leaves whole transactions only.
#[test]
fn a_killed_writer_leaves_whole_transactions() {
    let home = Home::new();
    for _ in 0..3 {
        let mut child = Part::play("write_forever", home.folder());
        child.hear();
        child.kill();

        let events = all(&home.another());

        assert!(events.len() > 100, "the child had written");
        assert_gapless(&events);
        let count = |key| events.iter().filter(|event| event.key == key).count();
        assert_eq!(
            count("one"),
            count("two"),
            "both events of a transaction or none"
        );
    }
}

/// Events of one subject are read from any number on.
#[test]
fn events_of_a_subject() {
    let home = Home::new();
    home.store
        .call_blocking(|db| {
            for number in 0..5 {
                db.events().append(event("a", number))?;
                db.events().append(event("b", number))?;
            }
            Ok(())
        })
        .unwrap();
    let read = home
        .store
        .read_blocking(|db| db.events().of("test", "b", 3, 10))
        .unwrap();
    let found: Vec<_> = read
        .iter()
        .map(|event| (event.key.as_str(), event.seq, event.at))
        .collect();
    assert_eq!(found, [("b", 4, 1_000), ("b", 5, 1_000)]);
    assert_eq!(
        home.store
            .read_blocking(|db| db.events().last_id())
            .unwrap(),
        10
    );
}

/// What happened to a run is counted without being read: the first times are told, and what another
/// kind of event holds does not matter.
#[test]
fn events_of_a_kind_are_counted() {
    let home = Home::new();
    let run = home.enqueue();
    let finished =
        |number: usize| NewEvent::of_run(&run, "step.call_finished", json!({ "number": number }));
    // Nested so deeply that no reader takes it.
    let deep = (0..200).fold(json!(null), |inner, _| json!([inner]));
    home.store
        .call_blocking(|db| {
            db.events()
                .append(NewEvent::of_run(&run, "test.deep", deep))?;
            for number in 0..30 {
                db.events().append(finished(number))?;
            }
            Ok(())
        })
        .unwrap();
    let count = |kind: &'static str, first| {
        home.store
            .read_blocking(|db| db.events().count(&run, kind, first))
            .unwrap()
    };
    assert_eq!(
        count("step.call_finished", 2),
        (30, vec![json!({ "number": 0 }), json!({ "number": 1 })])
    );
    assert_eq!(count("step.call_finished", 0), (30, Vec::new()));
    assert_eq!(count("step.other", 20), (0, Vec::new()));
}

/// Words wait for a run that may be continued; one that is done, or about to be, takes none.
#[test]
fn words_for_a_run_that_is_done_are_refused() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let run = fence.run().clone();
    let say = || {
        home.store.call_blocking(|db| {
            db.commands()
                .give(&run, CommandKind::Message, &json!({ "text": "x" }), "app")
        })
    };
    let answer = |fence: &Fence| home.store.call_blocking(|db| db.runs().answer(fence));
    let message = say().unwrap();
    assert!(!answer(&fence).unwrap(), "it has not heard everything");
    home.store
        .call_blocking(|db| db.commands().acknowledge(&fence, message))
        .unwrap();
    assert!(answer(&fence).unwrap());
    let refused = say();
    assert!(
        matches!(refused, Err(Error::Answered { .. })),
        "{refused:?}"
    );

    // Its process dies before it could end it: whoever continues it listens again.
    drop(instance);
    home.store
        .call_blocking(|db| db.runs().mark_orphans())
        .unwrap();
    let waiting = say().unwrap();
    home.store
        .call_blocking(|db| db.runs().continue_run(&run))
        .unwrap();
    let next = home.instance();
    let fence = home
        .store
        .call_blocking(|db| db.runs().claim(&run, next.id()))
        .unwrap()
        .unwrap();
    say().unwrap();
    let heard = home
        .store
        .read_blocking(|db| db.commands().take(&fence, 0))
        .unwrap();
    assert_eq!((heard.len(), heard[0].id), (2, waiting));
    home.store
        .call_blocking(|db| db.runs().finish(&fence, RunStatus::Failed, None, None))
        .unwrap();
    say().expect("it may be continued");
    home.store
        .call_blocking(|db| db.runs().continue_run(&run))
        .unwrap();
    let fence = home
        .store
        .call_blocking(|db| db.runs().claim(&run, next.id()))
        .unwrap()
        .unwrap();
    home.store
        .call_blocking(|db| db.runs().finish(&fence, RunStatus::Done, None, None))
        .unwrap();
    let refused = say();
    assert!(
        matches!(refused, Err(Error::Answered { .. })),
        "{refused:?}"
    );
}

/// A runner hears each command once, whoever gave it, and again after Continue only if it never acted.
#[test]
fn commands_reach_the_runner_once() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let run = fence.run().clone();
    let mut watch = CommandWatch::new(&home.store, &fence).unwrap();
    assert_eq!(watch.poll().unwrap(), []);

    let surface = home.another();
    let say = |kind| {
        surface.call_blocking(|db| db.commands().give(&run, kind, &json!({ "x": 1 }), "app"))
    };
    let pause = say(CommandKind::Pause).unwrap();
    let message = say(CommandKind::Message).unwrap();

    let heard = watch.poll().unwrap();
    assert_eq!(
        heard
            .iter()
            .map(|command| (command.id, command.kind))
            .collect::<Vec<_>>(),
        [(pause, CommandKind::Pause), (message, CommandKind::Message)]
    );
    assert_eq!(heard[0].given_by, "app");
    assert_eq!(heard[0].payload, json!({ "x": 1 }));
    assert_eq!(watch.poll().unwrap(), [], "each is heard once");
    home.store
        .call_blocking(|db| db.commands().acknowledge(&fence, pause))
        .unwrap();
    let open = home
        .store
        .read_blocking(|db| db.commands().take(&fence, 0))
        .unwrap();
    assert_eq!(open.len(), 1, "the acknowledged one is closed");

    drop(instance);
    surface
        .call_blocking(|db| db.runs().mark_orphans())
        .unwrap();
    assert!(
        matches!(watch.poll(), Err(Error::LostRun { .. })),
        "the watch tells the loss"
    );

    say(CommandKind::Resume).unwrap();
    surface
        .call_blocking(|db| db.runs().continue_run(&run))
        .unwrap();
    let next = home.instance();
    let fence = home
        .store
        .call_blocking(|db| db.runs().claim_next(next.id()))
        .unwrap()
        .unwrap();
    let mut watch = CommandWatch::new(&home.store, &fence).unwrap();
    let ids: Vec<_> = watch
        .poll()
        .unwrap()
        .into_iter()
        .map(|command| command.id)
        .collect();
    assert_eq!(
        ids,
        [message],
        "the message waits, the stale resume does not"
    );
}

/// A command given by another process is seen by a polling runner.
#[test]
fn polling_notices_other_connections() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let mut watch = CommandWatch::new(&home.store, &fence).unwrap();
    watch.poll().unwrap();
    let other = home.another();
    let run = fence.run().clone();
    let giver = std::thread::spawn(move || {
        other
            .call_blocking(|db| {
                db.commands()
                    .give(&run, CommandKind::Stop, &json!({}), "cli")
            })
            .unwrap()
    });
    let mut heard = Vec::new();
    eventually("the stop is heard", || {
        heard = watch.poll().unwrap();
        !heard.is_empty()
    });
    assert_eq!(heard[0].id, giver.join().unwrap());
}

/// A runner whose folder is removed or exchanged has lost its run: nobody could stop it any more.
#[cfg(unix)]
#[test]
fn a_removed_database_loses_the_run() {
    for exchanged in [false, true] {
        let home = Home::new();
        let instance = home.instance();
        let fence = home.claimed(&instance);
        let mut watch = CommandWatch::new(&home.store, &fence).unwrap();
        for _look in 0..200 {
            assert!(watch.poll().unwrap().is_empty(), "nothing is lost so far");
        }
        let database = home.folder().join("openspace.db");
        std::fs::rename(&database, home.folder().join("elsewhere.db")).unwrap();
        if exchanged {
            std::fs::write(&database, "another file").unwrap();
        }
        eventually("the run is lost", || {
            matches!(watch.poll(), Err(Error::LostRun { .. }))
        });
    }
}
