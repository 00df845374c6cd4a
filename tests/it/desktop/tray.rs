//! The tray's menu as desktops read it on Linux, where nothing is told of a click on the icon.

use openspace_app::RunStatus;
use openspace_testkit::wait::poll;
use zbus::{OwnedVariant, Variant};

use super::{SOON, end, endless, queue, rig, runs, shown, start, store, wait_status, xdotool};
use crate::rig::Rig;

/// A node of a menu: id, properties, children.
type Node = (
    i32,
    std::collections::HashMap<String, OwnedVariant>,
    Vec<OwnedVariant>,
);

/// The menu that the app exports on the session bus.
struct Menu {
    runtime: tokio::runtime::Runtime,
    connection: zbus::Connection,
    owner: String,
    path: String,
}

impl Menu {
    fn find(rig: &Rig, pid: u32) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let address = rig.screen().bus_address().expect("a bus").to_owned();
        let connection = runtime
            .block_on(async {
                zbus::connection::Builder::address(address.as_str())
                    .build()
                    .await
            })
            .expect("the bus answers");
        let found = poll(SOON, || runtime.block_on(exported(&connection, pid)));
        let (owner, path) = found.expect("the app exports a menu");
        Self {
            runtime,
            connection,
            owner,
            path,
        }
    }

    /// Texts of the lines with their ids and whether they can be chosen.
    fn lines(&self) -> Vec<(i32, String, bool)> {
        self.runtime.block_on(async {
            let names = ["label", "enabled"];
            let reply = self
                .connection
                .call_method(
                    Some(self.owner.as_str()),
                    self.path.as_str(),
                    Some("com.canonical.dbusmenu"),
                    "GetLayout",
                    &(0_i32, 1_i32, names.as_slice()),
                )
                .await
                .expect("the layout");
            let (_, root): (u32, Node) = reply.body().deserialize().expect("a layout");
            let lines = root.2.into_iter().filter_map(|child| {
                let (id, properties, _) = Node::try_from(child).ok()?;
                let text: String = properties.get("label")?.try_clone().ok()?.try_into().ok()?;
                let enabled = properties.get("enabled").is_none_or(|value| {
                    value.try_clone().ok().and_then(|v| bool::try_from(v).ok()) != Some(false)
                });
                Some((id, text.replace('_', ""), enabled))
            });
            lines.collect()
        })
    }

    /// The line that begins so, once there is one that can be chosen or not, as asked.
    fn wait(&self, begins: &str, enabled: bool) -> i32 {
        let found = poll(SOON, || {
            let lines = self.lines();
            let mut lines = lines.into_iter();
            lines.find(|(_, text, on)| text.starts_with(begins) && *on == enabled)
        });
        let (id, ..) = found.unwrap_or_else(|| panic!("no `{begins}`: {:?}", self.lines()));
        id
    }

    /// Chooses a line, and looks again where the menu was made anew between look and choice.
    fn choose(&self, begins: &str) {
        let chosen = poll(SOON, || {
            let id = self.wait(begins, true);
            let line = (id, "clicked", Variant::from(0_i32), 0_u32);
            self.runtime
                .block_on(self.connection.call_method(
                    Some(self.owner.as_str()),
                    self.path.as_str(),
                    Some("com.canonical.dbusmenu"),
                    "Event",
                    &line,
                ))
                .ok()
                .map(drop)
        });
        assert!(chosen.is_some(), "`{begins}` cannot be chosen");
    }
}

/// Where a process exports its menu.
async fn exported(connection: &zbus::Connection, pid: u32) -> Option<(String, String)> {
    const ITEMS: &str = "/org/ayatana/NotificationItem";
    let bus = zbus::fdo::DBusProxy::new(connection).await.ok()?;
    for name in bus.list_names().await.ok()? {
        if !name.as_str().starts_with(':') {
            continue;
        }
        let owner = bus
            .get_connection_unix_process_id(name.inner().clone())
            .await;
        if owner.ok() != Some(pid) {
            continue;
        }
        let node = zbus::fdo::IntrospectableProxy::builder(connection)
            .destination(name.to_string())
            .path(ITEMS)
            .build()
            .await
            .ok()?
            .introspect()
            .await;
        let Ok(node) = node else { continue };
        let item = node
            .split("<node name=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        if let Some(item) = item {
            return Some((name.to_string(), format!("{ITEMS}/{item}/Menu")));
        }
    }
    None
}

/// The menu says what goes on, stops it, and quits only after a question while something goes on.
#[test]
fn the_menu_works_without_clicks() {
    let rig = rig(endless());
    let mut app = start(&rig);
    let menu = Menu::find(&rig, app.id());
    menu.wait("Nothing runs", false);
    menu.wait("Stop everything", false);
    menu.wait("No approvals waiting", false);
    menu.wait("Open OpenSpace", true);
    queue(
        &rig,
        "Wait for me",
        &["--backends", "shell", "--preset", "hands-off"],
    );
    let store = store(&rig);
    wait_status(&store, RunStatus::Running);
    menu.wait("Wait for me: running", false);
    menu.choose("Stop everything");
    wait_status(&store, RunStatus::Stopped);
    menu.wait("Nothing runs", false);

    queue(
        &rig,
        "Wait again",
        &["--backends", "shell", "--preset", "hands-off"],
    );
    let going = || {
        runs(&store)
            .into_iter()
            .find(|run| run.status == RunStatus::Running)
    };
    poll(SOON, going).expect("it runs");
    menu.choose("Quit");
    let asks = || shown(&rig, "Quit OpenSpace").pop();
    let question = poll(SOON, asks).expect("a question");
    xdotool(&rig, &["windowactivate", "--sync", &question]).expect("activated");
    xdotool(&rig, &["key", "Escape"]).expect("pressed");
    poll(SOON, || asks().is_none().then_some(())).expect("the question is gone");
    assert!(app.running() && going().is_some(), "it goes on");

    menu.choose("Quit");
    let question = poll(SOON, asks).expect("a question");
    xdotool(&rig, &["windowactivate", "--sync", &question]).expect("activated");
    xdotool(&rig, &["key", "Return"]).expect("pressed");
    let output = app.wait(SOON).expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        runs(&store)
            .iter()
            .all(|run| run.status == RunStatus::Stopped)
    );
    rig.finish();
}

/// A question that waits is counted in the menu, in the language of the settings, which may change.
#[test]
fn questions_are_counted_in_the_language_of_the_settings() {
    let rig = rig(vec![openspace_testkit::model::Turn::shell(
        "rm precious.txt",
    )]);
    std::fs::write(rig.home.workspace().join("precious.txt"), "x").expect("a file");
    let app = start(&rig);
    let menu = Menu::find(&rig, app.id());
    queue(
        &rig,
        "Remove it",
        &["--backends", "shell", "--wait-approval", "10m"],
    );
    menu.wait("1 approval waiting", true);
    let set = rig
        .openspace(&["config", "set", "language", "zh-Hans"])
        .run();
    assert_eq!(set.expect("it runs").code, Some(0));
    menu.wait("1 项批准待处理", true);
    menu.choose("全部停止");
    wait_status(&store(&rig), RunStatus::Stopped);
    end(app);
    rig.finish();
}
