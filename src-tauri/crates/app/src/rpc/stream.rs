//! Events as they cross: without what a page has no use for.

use openspace_store::Event;
use serde_json::Value;

use super::payload;

payload! {
    /// Something happened.
    pub struct StoredEvent {
        /// Position among all events.
        #[cfg_attr(test, ts(type = "number"))]
        pub id: i64,
        /// `run`, `settings`, …
        pub topic: String,
        /// Which one of the topic, such as a run's id.
        pub key: String,
        /// Position among the events of topic and key, without gaps.
        #[cfg_attr(test, ts(type = "number"))]
        pub seq: i64,
        /// When, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number"))]
        pub at: i64,
        /// What.
        pub kind: String,
        /// Version of the kind.
        pub v: u32,
        /// Its values.
        #[cfg_attr(test, ts(type = "{ [value: string]: unknown }"))]
        pub payload: Value,
    }
}

impl From<Event> for StoredEvent {
    fn from(event: Event) -> Self {
        let mut payload = event.payload;
        if event.kind == "step.call_finished" {
            drop_pictures(&mut payload);
        }
        Self {
            id: event.id,
            topic: event.topic,
            key: event.key,
            seq: event.seq,
            at: event.at,
            kind: event.kind,
            v: event.v,
            payload,
        }
    }
}

/// The crops kept for replaying a step are pictures in base64; a page asks for frames instead.
fn drop_pictures(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("crop");
            fields.values_mut().for_each(drop_pictures);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_pictures),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Pictures inside the record of a step do not cross, everything else does.
    #[test]
    fn pictures_stay_behind() {
        let target = json!({ "input": { "x": 3, "y": 4 }, "crop": { "jpeg": "AAAA" } });
        let event = Event {
            id: 7,
            topic: "run".to_owned(),
            key: "k".to_owned(),
            seq: 2,
            at: 5,
            kind: "step.call_finished".to_owned(),
            v: 1,
            payload: json!({ "step": 1, "record": { "steps": [{ "target": target, "other_end": target }] } }),
        };
        let crossed = StoredEvent::from(event);
        let target = json!({ "input": { "x": 3, "y": 4 } });
        assert_eq!(
            crossed.payload,
            json!({ "step": 1, "record": { "steps": [{ "target": target, "other_end": target }] } })
        );
    }
}
