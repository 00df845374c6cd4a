//! A run that does many steps: at once, or on and on.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Result, anyhow};
use openspace_store::Fence;
use serde_json::json;

use super::{
    recorded::PICTURES,
    scene::{Asked, MODEL, Scene},
};

/// Between two events.
const PACE: Duration = Duration::from_millis(100);
/// Events of a step.
const EVENTS: u32 = 5;

fn begin(data: &Path) -> Result<(Scene, Fence)> {
    let scene = Scene::open(data, now())?;
    let fence = scene.begin(&Asked {
        text: "Read the inbox from the oldest message to the newest",
        origin: "app",
        model: MODEL,
        backends: &["gui"],
    })?;
    Ok((scene, fence))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// A run that did so many steps and goes on as long as the scene lives; and its id.
pub(super) fn plant(data: &Path, steps: u32) -> Result<(Scene, String)> {
    let (scene, fence) = begin(data)?;
    for event in EVENTS..EVENTS * (steps + 1) {
        happen(&scene, &fence, event)?;
    }
    Ok((scene, fence.run().to_string()))
}

/// A run in which something happens ten times a second, until `hold` is over.
pub(super) fn go_on(data: &Path, hold: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let (scene, fence) = begin(data)?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let busy = scope.spawn(|| {
            let mut next = Instant::now();
            for event in EVENTS.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                scene.set_time(now());
                happen(&scene, &fence, event)?;
                next += PACE;
                thread::sleep(next.saturating_duration_since(Instant::now()));
            }
            anyhow::Ok(())
        });
        let outcome = hold(fence.run().as_str());
        over.store(true, Ordering::Relaxed);
        let went = busy.join().map_err(|_| anyhow!("the run broke off"))?;
        outcome.and(went)
    })
}

/// One event: each step says what it does, clicks, and sees a picture.
fn happen(scene: &Scene, fence: &Fence, event: u32) -> Result<()> {
    let step = event / EVENTS;
    let call = format!("call_{step}");
    match event % EVENTS {
        0 => scene.say(fence, step, &format!("I open message number {step}.")),
        1 => {
            let place = json!({ "action": "left_click", "coordinate": [640, 400] });
            scene.start_call(fence, step, (&call, "computer", &place))
        }
        2 => {
            let picture = PICTURES[step as usize % PICTURES.len()];
            let frame = scene.keep_frame(fence, step, picture)?;
            let seen = json!([{ "kind": "frame", "frame": frame, "changed": true }]);
            scene.finish_call(fence, step, (&call, "computer"), 240, &seen)
        }
        3 => scene.tell(
            fence,
            "step.text",
            json!({ "step": step, "text": " It is about the meeting on Thursday." }),
        ),
        _ => scene.tell(
            fence,
            "run.used",
            json!({
                "steps": step, "activeMs": step * 500, "cost": 0.01 * f64::from(step),
                "usage": { "input": 1_900 * step, "output": 60 * step, "cache_read": 0,
                    "cache_write": 0, "images": step },
            }),
        ),
    }
}
