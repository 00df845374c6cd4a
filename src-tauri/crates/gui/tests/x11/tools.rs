//! The tools on a real screen: what the model sees is where its clicks land.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use openspace_grounding::{
    Action, ArtefactId, Backend as _, Block, CallContext, ChangeId, Denied, Evidence, Folders,
    FrameId, Gate, ImageLimits, Keep, NewChange, NewFrame, Output, Permit, RunId, ToolError,
};
use openspace_gui::{GuiBackend, Options};
use openspace_testkit::screen::Rect;
use openspace_testkit::target::{Patch, Window};
use openspace_testkit::{Options as ScreenOptions, RawTarget, TestScreen, wait_until};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::open;

/// How long anything may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// Allows everything and keeps nothing.
struct Willing;

#[async_trait]
impl Gate for Willing {
    async fn permit(&self, _: &[Action]) -> Result<Permit, Denied> {
        Ok(Permit::Immediate)
    }

    fn may_act(&self) -> bool {
        true
    }

    async fn acquire_control(&self) -> Result<(), ToolError> {
        Ok(())
    }
}

#[async_trait]
impl Keep for Willing {
    async fn frame(&self, _: NewFrame) -> Result<FrameId, ToolError> {
        Ok(FrameId::random())
    }

    async fn artefact(&self, _: &str, _: &str, _: Bytes) -> Result<ArtefactId, ToolError> {
        Ok(ArtefactId::random())
    }

    async fn read_artefact(&self, _: &ArtefactId, _: u64, _: u64) -> Result<Bytes, ToolError> {
        Ok(Bytes::new())
    }

    async fn change(&self, _: NewChange) -> Result<ChangeId, ToolError> {
        Ok(ChangeId::random())
    }

    async fn group_started(&self, _: u32) -> Result<(), ToolError> {
        Ok(())
    }

    async fn group_ended(&self, _: u32) {}

    fn held(&self, _: &Value) {}
}

fn backend(screen: &TestScreen) -> GuiBackend {
    let platform = open(screen);
    let limits = ImageLimits {
        max_edge: 1568,
        max_patches: 1568,
        max_edge_many: 2000,
        many: 20,
        max_images: 100,
        max_request_bytes: 32 << 20,
        max_image_bytes: 10 << 20,
    };
    GuiBackend::new(Options::new(
        platform.screen,
        platform.input,
        platform.tree,
        limits,
    ))
}

async fn call(backend: &GuiBackend, name: &str, arguments: Value) -> Output {
    let willing = Arc::new(Willing);
    let context = CallContext {
        run: RunId::random(),
        step: 1,
        call: "call".into(),
        cancel: CancellationToken::new(),
        gate: willing.clone(),
        keep: willing,
        folders: Arc::new(Folders {
            workspace: "/".into(),
            allowed: vec![],
            protected: vec![],
            scratch: "/".into(),
        }),
    };
    let tools = backend.tools().await;
    let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
    tool.actions(&arguments, &context).await.unwrap();
    tool.call(arguments, Permit::Immediate, &context)
        .await
        .unwrap()
}

fn picture(output: &Output) -> image::RgbImage {
    let image = output.blocks.iter().find_map(|block| match block {
        Block::Image { image, .. } => Some(image),
        _ => None,
    });
    image::load_from_memory(&image.unwrap().data)
        .unwrap()
        .to_rgb8()
}

fn text(output: &Output) -> String {
    format!("{:?}", output.blocks.first())
}

/// The middle of all pixels near a colour.
fn find(picture: &image::RgbImage, colour: [u8; 3]) -> (u32, u32) {
    let near = |pixel: &image::Rgb<u8>| {
        let pairs = pixel.0.iter().zip(colour);
        pairs.clone().all(|(is, wanted)| is.abs_diff(wanted) < 40)
    };
    let found: Vec<(u32, u32)> = picture
        .enumerate_pixels()
        .filter(|(_, _, pixel)| near(pixel))
        .map(|(x, y, _)| (x, y))
        .collect();
    assert!(!found.is_empty(), "{colour:?} is not on the picture");
    let middle = |values: Vec<u32>| {
        let (low, high) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        u32::midpoint(*low, *high)
    };
    (
        middle(found.iter().map(|(x, _)| *x).collect()),
        middle(found.iter().map(|(_, y)| *y).collect()),
    )
}

/// D-01: buttons found on the picture are hit on the screen, in every corner and in the middle, and
/// the answer shows what became of them.
#[tokio::test(flavor = "multi_thread")]
async fn d01_what_is_seen_is_hit() {
    for (width, height) in [(2560, 1440), (1080, 1920)] {
        let screen = TestScreen::start(ScreenOptions::sized(width, height)).unwrap();
        let window = Window::full(&screen).with_probes(12);
        let patches = window.patches.clone();
        let target = RawTarget::start(&screen, window).unwrap();
        let backend = backend(&screen);
        let seen = call(&backend, "computer", json!({"action": "screenshot"})).await;
        let before = picture(&seen);
        for patch in patches {
            let (x, y) = find(&before, patch.colour);
            target.clear();
            let click = json!({"action": "left_click", "coordinate": [x, y]});
            let after = call(&backend, "computer", click).await;
            assert!(
                matches!(after.evidence[..], [Evidence::Frame { changed: true, .. }]),
                "{}: {}",
                patch.name,
                text(&after)
            );
            assert!(wait_until(ARRIVAL, || !target.clicks().is_empty()));
            let (hit, at_x, at_y) = target.clicks()[0].clone();
            assert_eq!(hit.as_deref(), Some(patch.name.as_str()));
            // The middle of the patch as found on a picture of about half the size.
            let (middle_x, middle_y) = patch.area.centre();
            assert!(
                (at_x - middle_x).abs() <= 2 && (at_y - middle_y).abs() <= 2,
                "{}: {at_x},{at_y} instead of {middle_x},{middle_y}",
                patch.name
            );
        }
    }
}

/// D-04: a place that swallows clicks is told as unchanged, although the click arrived.
#[tokio::test(flavor = "multi_thread")]
async fn d04_a_dead_place_is_told() {
    let screen = TestScreen::start(ScreenOptions::sized(1024, 768)).unwrap();
    let dead = Patch::dead("dead", Rect::new(300, 300, 60, 30), [20, 20, 230]);
    let target = RawTarget::start(&screen, Window::full(&screen).with(dead)).unwrap();
    let backend = backend(&screen);
    call(&backend, "computer", json!({"action": "screenshot"})).await;
    let click = json!({"action": "left_click", "coordinate": [330, 315]});
    let output = call(&backend, "computer", click.clone()).await;
    assert!(wait_until(ARRIVAL, || target.clicks().len() == 1));
    assert!(text(&output).contains("No visible change"));
    assert!(!output.is_error);
    for _ in 0..2 {
        call(&backend, "computer", click.clone()).await;
    }
    let output = call(&backend, "computer", click).await;
    assert!(output.is_error, "{}", text(&output));
}
