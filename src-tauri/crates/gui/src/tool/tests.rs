#[cfg(target_os = "linux")]
mod ring;
mod safety;

use std::time::Duration;

use openspace_grounding::{Backend as _, Block, Evidence, ScreenApp};
use serde_json::json;

use super::*;
use crate::{
    Element, GuiBackend, InputPoint, Options, ScreenState,
    fake::{Fake, FakeTree, Ours, Surroundings, element, limits, surroundings, window},
    record::CallRecord,
};

fn options(fake: &Fake) -> Options {
    let mut options = Options::new(
        Arc::new(fake.clone()),
        Box::new(fake.clone()),
        None,
        limits(),
    );
    options.off_limits = Some(Arc::new(Ours));
    options.marker = Some("[guarded]".into());
    options.settle.first = Duration::from_millis(2);
    options.settle.interval = Duration::from_millis(2);
    options.settle.react = Duration::from_millis(6);
    options.settle.limit = Duration::from_millis(200);
    options
}

struct Bench {
    fake: Fake,
    backend: Arc<GuiBackend>,
    around: Surroundings,
}

impl Bench {
    fn new(change: impl FnOnce(&mut Options)) -> Self {
        let fake = Fake::new();
        let mut options = options(&fake);
        change(&mut options);
        Self {
            backend: Arc::new(GuiBackend::new(options)),
            fake,
            around: surroundings(),
        }
    }

    async fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let tools = self.backend.tools().await;
        tools
            .into_iter()
            .find(|tool| tool.spec().name == name)
            .unwrap()
    }

    /// Judged, permitted and called, as the agent does it.
    async fn call_as(
        &self,
        name: &str,
        arguments: Value,
        permit: Permit,
    ) -> Result<Output, ToolError> {
        let tool = self.tool(name).await;
        tool.actions(&arguments, &self.around.context).await?;
        tool.call(arguments, permit, &self.around.context).await
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Output, ToolError> {
        self.call_as(name, arguments, Permit::Immediate).await
    }

    async fn computer(&self, arguments: Value) -> Result<Output, ToolError> {
        self.call("computer", arguments).await
    }

    async fn look(&self) {
        self.computer(json!({"action": "screenshot"}))
            .await
            .unwrap();
    }

    async fn actions(&self, name: &str, arguments: Value) -> Vec<Action> {
        let tool = self.tool(name).await;
        tool.actions(&arguments, &self.around.context)
            .await
            .unwrap()
    }
}

fn text(output: &Output) -> String {
    let texts = output.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn pictures(output: &Output) -> usize {
    let is_picture = |block: &&Block| matches!(block, Block::Image { frame: Some(_), .. });
    output.blocks.iter().filter(is_picture).count()
}

fn app(name: &str, title: &str) -> ScreenApp {
    ScreenApp {
        name: name.into(),
        title: title.into(),
        terminal: false,
        own: false,
    }
}

/// D-02: the display a hosted tool is declared with is the picture that is sent.
#[tokio::test]
async fn d02_declared_size_is_sent_size() {
    let bench = Bench::new(|_| {});
    bench.fake.with(|state| {
        state.monitors[0].area.width = 1440;
        state.monitors[0].area.height = 900;
        state.picture.width = 1440;
        state.picture.height = 900;
        state.picture.bgrx = (0..1440 * 900 * 4).map(|n| (n / 7) as u8).collect();
    });
    let declared = bench.tool("computer").await.spec().hosted.clone();
    let output = bench
        .computer(json!({"action": "screenshot"}))
        .await
        .unwrap();
    let Some(Block::Image { image, .. }) = output.blocks.last() else {
        panic!("{output:?}");
    };
    let decoded = image::load_from_memory(&image.data).unwrap();
    assert_eq!((decoded.width(), decoded.height()), (1389, 868));
    assert_eq!(
        declared,
        Some(openspace_grounding::Hosted::Computer {
            width: 1389,
            height: 868
        })
    );
    let again = bench.tool("computer").await.spec().hosted.clone();
    assert_eq!(again, declared);
}

/// A click goes where the picture shows, and the answer has the picture, the change and a record.
#[tokio::test]
async fn a_click_is_done_seen_and_recorded() {
    let bench = Bench::new(|_| {});
    bench.fake.open(window(1, "mousepad", 0, 0, 400, 300));
    bench.fake.react(|state, what| {
        if what == "Left up" {
            state.paint(96, 64, 32, 255);
        }
    });
    bench.look().await;
    let click = json!({"action": "left_click", "coordinate": [100, 80], "text": "ctrl"});
    assert_eq!(
        bench.actions("computer", click.clone()).await,
        [Action::Screen {
            app: app("mousepad", "mousepad 1"),
            access: Access::Click
        }]
    );
    let output = bench.computer(click).await.unwrap();
    assert_eq!(
        bench.fake.log(),
        [
            "move 100,80",
            "key ctrl down",
            "Left down",
            "Left up",
            "key ctrl up"
        ]
    );
    assert!(!output.is_error);
    assert!(
        text(&output).contains("Changed: x 96 to 127, y 64 to 95"),
        "{}",
        text(&output)
    );
    assert_eq!(pictures(&output), 1);
    assert!(matches!(
        output.evidence[..],
        [Evidence::Frame { changed: true, .. }]
    ));
    assert_eq!(bench.around.gate.acquired.load(Ordering::SeqCst), 1);

    let record: CallRecord = serde_json::from_value(output.record.unwrap()).unwrap();
    let step = &record.steps[0];
    let target = step.target.as_ref().unwrap();
    assert_eq!(target.input, InputPoint { x: 100, y: 80 });
    assert!(
        target
            .crop
            .as_ref()
            .is_some_and(|crop| crop.jpeg.len() > 100)
    );
    assert_eq!(step.window.as_ref().unwrap().app, "mousepad");
    assert_ne!(step.hash_before, step.hash_after);
    assert_eq!(step.action["action"], "left_click");
}

/// D-04: a click that does nothing is told as such, and three in a row are an error.
#[tokio::test]
async fn d04_nothing_changed_is_told() {
    let bench = Bench::new(|_| {});
    bench.look().await;
    let click = json!({"action": "left_click", "coordinate": [10, 10]});
    for _ in 0..2 {
        let output = bench.computer(click.clone()).await.unwrap();
        assert!(text(&output).contains("No visible change"));
        assert!(!output.is_error);
        assert!(matches!(
            output.evidence[..],
            [Evidence::Frame { changed: false, .. }]
        ));
    }
    let output = bench.computer(click).await.unwrap();
    assert!(output.is_error);
    assert!(text(&output).contains("another way"));
}

/// D-07: an unknown key is an error with suggestions, and nothing at all is pressed.
#[tokio::test]
async fn d07_unknown_keys_press_nothing() {
    let bench = Bench::new(|_| {});
    let refused = bench
        .computer(json!({"action": "key", "text": "ctrl+Retrun"}))
        .await;
    let Err(ToolError::InvalidArguments(reason)) = refused else {
        panic!("{refused:?}");
    };
    assert!(reason.contains("Return"));
    assert_eq!(bench.fake.log(), Vec::<String>::new());
}

/// D-08: a position outside is an error with the range, and the mouse does not move.
#[tokio::test]
async fn d08_positions_outside_do_not_move_the_mouse() {
    let bench = Bench::new(|_| {});
    bench.look().await;
    let refused = bench
        .computer(json!({"action": "left_click", "coordinate": [800, 600]}))
        .await;
    assert!(matches!(refused, Err(ToolError::InvalidArguments(text)) if text.contains("799")));
    assert_eq!(bench.fake.log(), Vec::<String>::new());
}

/// A position before any picture gets a picture instead of a click.
#[tokio::test]
async fn a_click_before_the_first_picture() {
    let bench = Bench::new(|_| {});
    let output = bench
        .computer(json!({"action": "left_click", "coordinate": [1, 1]}))
        .await
        .unwrap();
    assert!(output.is_error);
    assert_eq!(pictures(&output), 1);
    assert_eq!(bench.fake.log(), Vec::<String>::new());
}

/// A changed layout makes old positions stale; the answer has a fresh picture.
#[tokio::test]
async fn a_changed_layout_is_stale() {
    let bench = Bench::new(|_| {});
    bench.look().await;
    bench.fake.with(|state| state.monitors[0].area.x = 50);
    let output = bench
        .computer(json!({"action": "left_click", "coordinate": [1, 1]}))
        .await
        .unwrap();
    assert!(output.is_error);
    assert!(
        text(&output).starts_with("out of date"),
        "{}",
        text(&output)
    );
    assert_eq!(pictures(&output), 1);
    assert_eq!(bench.fake.log(), Vec::<String>::new());
}

/// A drag starts at its start, passes points in between and ends at its end.
#[tokio::test]
async fn a_drag_has_a_start_and_a_way() {
    let bench = Bench::new(|_| {});
    bench.look().await;
    let drag = json!({
        "action": "left_click_drag", "start_coordinate": [100, 100], "coordinate": [220, 160],
    });
    bench.computer(drag).await.unwrap();
    let log = bench.fake.log();
    assert_eq!(log[..2], ["move 100,100", "Left down"]);
    assert_eq!(log[log.len() - 2..], ["move 220,160", "Left up"]);
    assert!(log.contains(&"move 160,130".to_owned()));
}

/// A locked screen is explained, never shown.
#[tokio::test]
async fn a_locked_screen_is_not_shown() {
    let bench = Bench::new(|_| {});
    bench.fake.with(|state| state.usable = ScreenState::Locked);
    let refused = bench.computer(json!({"action": "screenshot"})).await;
    assert!(matches!(refused, Err(ToolError::Unavailable(text)) if text.contains("locked")));
    assert!(bench.around.keep.frames.lock().unwrap().is_empty());
}

/// A closer look has more pixels than the picture had and says what positions refer to.
#[tokio::test]
async fn zoom_shows_more() {
    let bench = Bench::new(|_| {});
    bench.look().await;
    let output = bench
        .computer(json!({"action": "zoom", "region": [100, 100, 300, 200]}))
        .await
        .unwrap();
    let Some(Block::Image { image, .. }) = output.blocks.last() else {
        panic!("{output:?}");
    };
    assert_eq!((image.width, image.height), (600, 300));
    assert!(text(&output).contains("last whole screenshot"));
}

fn password() -> Element {
    Element {
        focused: true,
        password: true,
        ..element("password text", "Password", 200, 200)
    }
}

/// Password fields are painted over in pictures, and what is typed into them is not recorded.
#[tokio::test]
async fn passwords_are_neither_shown_nor_recorded() {
    let tree = Arc::new(FakeTree(Mutex::new(vec![password()])));
    let bench = Bench::new(|options| options.tree = Some(tree));
    bench.fake.open(window(1, "chromium", 0, 0, 800, 600));
    bench.look().await;
    let frame = bench.around.keep.frames.lock().unwrap()[0].image.clone();
    let decoded = image::load_from_memory(&frame.data).unwrap().to_rgb8();
    let [red, green, blue] = decoded.get_pixel(240, 210).0;
    assert!(
        [red, green, blue]
            .iter()
            .all(|shade| shade.abs_diff(0x80) < 6)
    );
    let output = bench
        .computer(json!({"action": "type", "text": "hunter2"}))
        .await
        .unwrap();
    let record = output.record.unwrap().to_string();
    assert!(!record.contains("hunter2"), "{record}");
}

/// A model without vision reads elements and clicks them, wherever they moved, and gets no picture.
#[tokio::test]
async fn a_model_without_vision_uses_elements() {
    let tree = Arc::new(FakeTree(Mutex::new(vec![
        element("push button", "OK", 100, 100),
        element("push button", "Cancel", 300, 100),
    ])));
    let handle = tree.clone();
    let bench = Bench::new(|options| {
        options.vision = false;
        options.tree = Some(handle);
    });
    bench.fake.open(window(1, "mousepad", 0, 0, 800, 600));
    let listed = bench.call("accessibility_tree", json!({})).await.unwrap();
    assert!(
        text(&listed).contains("[2] push button \"Cancel\""),
        "{}",
        text(&listed)
    );
    tree.0.lock().unwrap()[1].area.y = 400;
    let output = bench.call("click_element", json!({"id": 2})).await.unwrap();
    assert_eq!(bench.fake.log()[0], "move 340,410");
    assert_eq!(pictures(&output), 0);
    let refused = bench.call("click_element", json!({"id": 3})).await;
    assert!(matches!(refused, Err(ToolError::NotFound(_))));
    let blind = bench.computer(json!({"action": "screenshot"})).await;
    assert!(matches!(blind, Err(ToolError::InvalidArguments(_))));
}

/// Without vision and without a tree there is nothing to offer.
#[tokio::test]
async fn neither_vision_nor_tree_means_no_tools() {
    let bench = Bench::new(|options| options.vision = false);
    assert!(bench.backend.tools().await.is_empty());
}

/// D-03: the model chooses a monitor and is told which one it sees.
#[tokio::test]
async fn d03_the_model_chooses_a_monitor() {
    let bench = Bench::new(|_| {});
    bench.fake.with(|state| {
        let mut second = state.monitors[0].clone();
        second.name = "left".into();
        second.area.x = -800;
        second.primary = false;
        state.monitors.push(second);
    });
    let output = bench
        .computer(json!({"action": "screenshot", "monitor": "2"}))
        .await
        .unwrap();
    assert!(
        text(&output).contains("2 `left` (shown)"),
        "{}",
        text(&output)
    );
    bench
        .computer(json!({"action": "mouse_move", "coordinate": [10, 20]}))
        .await
        .unwrap();
    assert_eq!(bench.fake.log(), ["move -790,20"]);
    let refused = bench
        .computer(json!({"action": "screenshot", "monitor": "HDMI-9"}))
        .await;
    assert!(matches!(refused, Err(ToolError::NotFound(text)) if text.contains("left")));
}
