//! Fifty runners killed at random moments.

use std::time::{Duration, Instant};

use openspace_testkit::{
    Program,
    leak::pressed,
    model::{Call, Script, SeenRequest, Turn},
    wait_until,
};
use serde_json::json;

use super::{LONG, RED, SCREEN, SECOND, World, kill};

const KILLS: u64 = 50;

/// Deterministic, so that a failure can be repeated with the printed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// What the model is in the middle of, by a word in the task.
fn script() -> Script {
    Script::decide(|seen: &SeenRequest| {
        let task = seen.person();
        if seen.turns() == 0 {
            return Turn::screenshot();
        }
        let button = seen.find_color(RED, 60).unwrap_or((140, 130).into());
        if task.contains("typing") {
            Turn::type_text(&"Héllo, WORLD 北京 Ω x ".repeat(100))
        } else if task.contains("clicking") {
            Turn::calls((0..40).map(|_| Call::click_at(button)))
        } else if task.contains("button") {
            let down = json!({"action": "left_mouse_down", "coordinate": [button.x, button.y]});
            Turn::calls([
                Call::computer(down),
                Call::computer(json!({"action": "wait", "duration": 20})),
            ])
        } else if task.contains("shift") {
            Turn::call(Call::computer(
                json!({"action": "hold_key", "text": "ctrl+shift", "duration": 20}),
            ))
        } else {
            Turn::shell(
                "setsid sleep 600 & (trap '' TERM; (setsid -f sleep 601; sleep 602) & sleep 603)",
            )
        }
    })
}

/// The keyboard as the server keeps it.
fn keyboard(world: &World) -> String {
    let output = Program::new("/usr/bin/xkbcomp")
        .args(["-w0", "-xkb", &world.screen().display(), "-"])
        .environment(world.rig.environment())
        .run()
        .expect("xkbcomp runs");
    assert_eq!(output.code, Some(0), "{output:?}");
    output.stdout
}

/// Whatever a run is in the middle of when its process is killed: within a second nothing is pressed,
/// the keyboard is as before and no process lives; the store is whole and the run interrupted.
#[test]
fn fifty_kills_leave_nothing_behind() {
    let seed = std::env::var("OPENSPACE_TEST_SEED").ok();
    let seed = seed
        .and_then(|it| it.parse().ok())
        .unwrap_or(0x5eed_2026_u64);
    println!("OPENSPACE_TEST_SEED={seed}");
    let mut dice = Dice(seed);
    let world = World::on_screen(script());
    let target = world.target();
    let before = keyboard(&world);
    let mut slow = Vec::new();
    for round in 0..KILLS {
        let kind = ["typing", "clicking", "button", "shift", "commands"][(round % 5) as usize];
        let detached = dice.roll(2) == 1;
        let task = format!("round {round}: {kind}");
        let extra: &[&str] = if detached { &["--detach"] } else { &[] };
        let mut asker = world.start(&[&["run", &task], SCREEN, extra]);
        let id = world.run_of(&task);
        let runner = world.runner_of(&id);
        // One in five dies while it is still being prepared, guard and all.
        let early = dice.roll(5) == 0;
        if !early {
            let tool = if kind == "commands" {
                "run_command"
            } else {
                "computer"
            };
            let calls = if kind == "commands" { 1 } else { 2 };
            let begun = wait_until(LONG, || {
                let events = world.events(&id);
                let begun = events
                    .iter()
                    .filter(|it| it.kind == "step.call_started" && it.payload["tool"] == tool);
                begun.count() >= calls
            });
            assert!(begun, "round {round}: {:?}", world.events(&id));
        }
        std::thread::sleep(Duration::from_millis(dice.roll(400)));
        kill(runner);
        let since = Instant::now();
        let times = [world.released(since), world.ended(since, "run round")];
        let same = wait_until(Duration::from_secs(10), || keyboard(&world) == before);
        assert!(same, "round {round} ({kind}): the keyboard is another one");
        if times.iter().any(|it| *it > SECOND) {
            slow.push((round, kind, times));
        }
        asker.wait(LONG).expect("the asker ends");
        world.assert_interrupted(&id);
        world.assert_no_gaps();
    }
    // The machine may be busy with other tests now and then; the guard's own time is far below.
    assert!(slow.len() <= 5, "slower than a second: {slow:?}");
    let last = pressed(world.screen()).expect("the screen");
    assert!(last.is_empty(), "{last:?}");
    let listed = world.openspace(&["runs", "list", "--limit", "100"]);
    assert_eq!(listed.stdout.lines().count(), KILLS as usize, "{listed:?}");
    drop(target);
    world.finish();
}
