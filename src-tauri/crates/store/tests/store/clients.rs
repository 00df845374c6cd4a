//! Programs that connected to our MCP server.

use std::sync::atomic::Ordering;

use openspace_store::Client;

use crate::home::Home;

fn client(mark: &str, name: &str, version: &str) -> Client {
    Client {
        mark: mark.to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
        protocol: "2025-11-25".to_owned(),
    }
}

/// Each is kept once, by who started it and what it calls itself, with the last time it was here; and
/// whoever watches is told.
#[test]
fn the_last_time_is_kept() {
    let home = Home::new();
    let connected = |client: Client| {
        home.store
            .call_blocking(move |db| db.clients().connected(&client))
            .unwrap();
    };
    connected(client("codex", "codex-mcp-client", "1"));
    home.time.fetch_add(5, Ordering::SeqCst);
    connected(client("", "some-tool", "2"));
    home.time.fetch_add(5, Ordering::SeqCst);
    connected(client("codex", "codex-mcp-client", "3"));
    let list = home.store.read_blocking(|db| db.clients().list()).unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(list[0].0, client("codex", "codex-mcp-client", "3"));
    assert_eq!(list[1].0, client("", "some-tool", "2"));
    assert_eq!(list[0].1 - list[1].1, 5);
    let told = home
        .store
        .read_blocking(|db| db.events().after(0, 100))
        .unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|event| {
            (
                event.topic.as_str(),
                event.key.as_str(),
                event.kind.as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("hosts", "codex", "hosts.connected"),
            ("hosts", "", "hosts.connected"),
            ("hosts", "codex", "hosts.connected"),
        ]
    );
}

/// A program that calls itself something else each time fills nothing up: the oldest go.
#[test]
fn only_so_many_are_kept() {
    let home = Home::new();
    for number in 0..120 {
        home.time.fetch_add(1, Ordering::SeqCst);
        let client = client("", &format!("tool-{number}"), "1");
        home.store
            .call_blocking(move |db| db.clients().connected(&client))
            .unwrap();
    }
    let list = home.store.read_blocking(|db| db.clients().list()).unwrap();
    assert_eq!(list.len(), 100);
    assert_eq!(list[0].0.name, "tool-119");
    assert_eq!(list[99].0.name, "tool-20");
}
