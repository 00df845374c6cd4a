//! Finding, listing and adding up runs.

use openspace_store::{Error, NewModelCall, RunFilter, RunStatus, Usage};
use serde_json::json;

use crate::home::Home;

/// A prefix finds the one run that begins with it, and says so when there is none or several.
#[test]
fn prefixes() {
    let home = Home::new();
    // More runs than letters in the alphabet of ids: two begin with the same one.
    let runs: Vec<_> = (0..33).map(|_| home.enqueue()).collect();
    let find = |prefix: &str| home.store.read_blocking(|db| db.runs().find(prefix));
    for run in &runs {
        assert_eq!(find(run.as_str()).unwrap().id, *run);
        assert_eq!(find(&run.as_str()[..9].to_uppercase()).unwrap().id, *run);
    }
    let ambiguous = runs
        .iter()
        .map(|run| &run.as_str()[..1])
        .find(|letter| {
            runs.iter()
                .filter(|run| run.as_str().starts_with(letter))
                .count()
                > 1
        })
        .unwrap();
    let Err(Error::Ambiguous { candidates, .. }) = find(ambiguous) else {
        panic!("`{ambiguous}` fits several runs");
    };
    assert!(candidates.len() > 1 && candidates.iter().all(|id| id.starts_with(ambiguous)));
    for nothing in ["", "%", "_", "*", "uuuu", "'", "ü", "aaaaaaaaaaaaaaaa"] {
        assert!(
            matches!(find(nothing), Err(Error::NotFound { .. })),
            "`{nothing}` fits nothing"
        );
    }
}

/// Lists are newest first, filtered and limited.
#[test]
fn lists() {
    let home = Home::new();
    let instance = home.instance();
    let [first, second, third] = [home.enqueue(), home.enqueue(), home.enqueue()];
    home.store
        .call_blocking(|db| db.runs().claim(&second, instance.id()))
        .unwrap();
    let session = home
        .store
        .read_blocking(|db| db.runs().get(&first))
        .unwrap()
        .session;
    let list = |filter: RunFilter| {
        let runs = home
            .store
            .read_blocking(|db| db.runs().list(&filter))
            .unwrap();
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    let all = RunFilter::default();
    assert_eq!(
        list(all.clone()),
        [third.clone(), second.clone(), first.clone()]
    );
    assert_eq!(
        list(RunFilter {
            limit: 2,
            ..all.clone()
        }),
        [third.clone(), second.clone()]
    );
    let queued = RunFilter {
        statuses: vec![RunStatus::Queued],
        ..all.clone()
    };
    assert_eq!(list(queued), [third, first.clone()]);
    let both = vec![RunStatus::Queued, RunStatus::Planning];
    assert_eq!(
        list(RunFilter {
            statuses: both,
            limit: 0,
            ..all.clone()
        })
        .len(),
        3
    );
    assert_eq!(
        list(RunFilter {
            session: Some(session),
            ..all
        }),
        [first]
    );
}

/// A run's usage is the sum of its calls, also of those recorded after it was lost.
#[test]
fn usage_adds_up() {
    let home = Home::new();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let call = |run: Option<&openspace_store::RunId>, output| NewModelCall {
        run: run.cloned(),
        step: 1,
        role: "plan".to_owned(),
        model: "some-model".to_owned(),
        usage: Usage {
            input: 10,
            output,
            cache_read: 1,
            cache_write: 2,
            images: 3,
            microdollars: 400,
        },
        milliseconds: 1_200,
        error: None,
    };
    let record = |new| {
        home.store
            .call_blocking(|db| db.model_calls().record(&new))
            .unwrap()
    };
    record(call(Some(fence.run()), 5));
    home.store
        .call_blocking(|db| db.runs().finish(&fence, RunStatus::Stopped, None, None))
        .unwrap();
    record(call(Some(fence.run()), 6));
    record(call(None, 7));
    let row = home
        .store
        .read_blocking(|db| db.runs().get(fence.run()))
        .unwrap();
    let sum = Usage {
        input: 20,
        output: 11,
        cache_read: 2,
        cache_write: 4,
        images: 6,
        microdollars: 800,
    };
    assert_eq!(row.usage, sum);
    let calls = home
        .store
        .read_blocking(|db| db.model_calls().of_run(fence.run()))
        .unwrap();
    assert_eq!(
        calls
            .iter()
            .map(|call| call.usage.output)
            .collect::<Vec<_>>(),
        [5, 6]
    );
    let total = home
        .store
        .read_blocking(|db| db.model_calls().total_since(0))
        .unwrap();
    assert_eq!(total.output, 18, "calls without a run count as well");
}

/// Every status is final, active, queued or interrupted, and its name survives JSON.
#[test]
fn statuses_are_what_the_design_names() {
    let names: Vec<_> = RunStatus::ALL
        .iter()
        .map(|status| status.as_str())
        .collect();
    assert_eq!(
        names.join(" "),
        "queued planning running needs_approval needs_you paused stopping stopped done failed \
         limit_reached interrupted"
    );
    for status in RunStatus::ALL {
        assert_eq!(
            serde_json::to_value(status).unwrap(),
            json!(status.as_str())
        );
        assert!(
            !(status.is_final() && status.is_active()),
            "{status} cannot be both"
        );
    }
}
