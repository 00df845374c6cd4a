//! Forgetting runs.

use openspace_store::{Error, NewArtefact, NewFrame, NewModelCall, RunStatus, Usage};
use serde_json::json;

use crate::home::Home;

/// Nothing of a deleted run is left but what it cost, and the runs beside it are untouched.
#[test]
fn a_deleted_run_leaves_nothing() {
    let home = Home::new();
    let store = &home.store;
    let second = home.enqueue();
    let instance = home.instance();
    let fence = home.claimed(&instance);
    let first = fence.run().clone();
    let frame = NewFrame {
        step: 1,
        media_type: "image/jpeg".to_owned(),
        data: vec![1, 2, 3].into(),
        width: 1,
        height: 1,
        display: ":0".to_owned(),
        geometry: json!({}),
        hash: "h".to_owned(),
    };
    let frame = store.keep_frame(&fence, &frame).unwrap();
    let artefact = NewArtefact {
        step: 1,
        name: "out".to_owned(),
        media_type: "text/plain".to_owned(),
        data: b"text".as_slice().into(),
    };
    let artefact = store.keep_artefact(&fence, &artefact).unwrap();
    let usage = Usage {
        input: 7,
        ..Usage::default()
    };
    let call = NewModelCall {
        run: Some(first.clone()),
        step: 1,
        role: "plan".to_owned(),
        model: "m".to_owned(),
        usage,
        milliseconds: 1,
        error: None,
    };
    store
        .call_blocking(|db| db.model_calls().record(&call))
        .unwrap();
    let (_, file) = store.artefact(&artefact).unwrap();

    let going = store.delete_run(&first).unwrap_err();
    assert!(matches!(going, Error::WrongStatus { .. }), "{going}");
    store
        .call_blocking(|db| db.runs().finish(&fence, RunStatus::Done, None, None))
        .unwrap();
    store.delete_run(&first).unwrap();

    let gone = store.read_blocking(|db| db.runs().get(&first)).unwrap_err();
    assert!(matches!(gone, Error::NotFound { .. }), "{gone}");
    assert!(store.read_frame(&frame).is_err());
    assert!(!file.exists());
    assert!(!store.folder().join("frames").join(first.as_str()).exists());
    let (events, spent) = store
        .read_blocking(|db| {
            Ok((
                db.events().of("run", first.as_str(), 0, 100)?,
                db.model_calls().total_since(0)?,
            ))
        })
        .unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["run.deleted"]);
    assert_eq!(spent.input, 7);
    let other = store.read_blocking(|db| db.runs().get(&second)).unwrap();
    assert_eq!(other.status, RunStatus::Queued);
    assert!(
        store
            .read_blocking(|db| db.tasks().get(&other.task))
            .is_ok()
    );
}
