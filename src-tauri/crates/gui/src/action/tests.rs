use super::*;
use crate::{
    InputRect, Monitor,
    geometry::{Size, layout},
};

fn frame() -> FrameGeometry {
    let monitor = Monitor {
        name: "screen".into(),
        area: InputRect {
            x: 0,
            y: 0,
            width: 1024,
            height: 768,
        },
        scale: 1.0,
        primary: true,
    };
    let size = Size {
        width: 1024,
        height: 768,
    };
    FrameGeometry {
        generation: 1,
        layout: layout(std::slice::from_ref(&monitor)),
        monitor,
        physical: size,
        sent: size,
    }
}

fn read(arguments: &Value) -> Result<ComputerAction, GuiError> {
    let frame = frame();
    let reading = Reading {
        frame: Some(&frame),
        coordinates: Coordinates::Pixels,
        keys: KeyOptions::default(),
    };
    parse(arguments, reading)
}

fn at(x: u32, y: u32) -> Place {
    Place::Sent(SentPoint {
        x,
        y,
        generation: 1,
    })
}

/// Every shape of the hosted tool is understood.
#[test]
fn shapes_of_the_hosted_tool() {
    let click = |button, times, modifiers| ComputerAction::Click {
        button,
        times,
        at: at(10, 20),
        modifiers,
    };
    let place = json!([10, 20]);
    let cases = [
        (
            json!({"action": "left_click", "coordinate": place}),
            click(Button::Left, 1, vec![]),
        ),
        (
            json!({"action": "right_click", "coordinate": place, "text": "ctrl"}),
            click(Button::Right, 1, vec![Key(0xffe3)]),
        ),
        (
            json!({"action": "triple_click", "coordinate": place, "text": null}),
            click(Button::Left, 3, vec![]),
        ),
        (
            json!({"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": place}),
            ComputerAction::Drag {
                from: at(1, 2),
                to: at(10, 20),
                modifiers: vec![],
            },
        ),
        (
            json!({"action": "scroll", "coordinate": place, "scroll_direction": "up", "scroll_amount": 5}),
            ComputerAction::Scroll {
                at: at(10, 20),
                right: 0,
                down: -5,
                modifiers: vec![],
            },
        ),
        (
            json!({"action": "key", "text": "Tab", "repeat": 4}),
            ComputerAction::Key {
                chord: crate::key::parse_chord("Tab", KeyOptions::default()).unwrap(),
                times: 4,
            },
        ),
        (
            json!({"action": "wait", "duration": 0.5}),
            ComputerAction::Wait {
                duration: Duration::from_millis(500),
            },
        ),
        (
            json!({"action": "type", "text": "a\r\nb"}),
            ComputerAction::Type {
                text: "a\nb".into(),
            },
        ),
        (
            json!({"action": "zoom", "region": [0, 0, 1024, 768]}),
            ComputerAction::Zoom {
                region: SentRect {
                    x0: 0,
                    y0: 0,
                    x1: 1024,
                    y1: 768,
                },
            },
        ),
        (
            json!({"action": "left_mouse_up"}),
            ComputerAction::Release { at: Place::Pointer },
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(read(&arguments), Ok(expected), "{arguments}");
    }
    for name in schema::ACTIONS {
        let known = read(&json!({"action": name}));
        let text = known
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(!text.contains("no action"), "{name}: {text}");
    }
}

/// D-08: positions that are none never become clicks.
#[test]
fn d08_bad_positions_are_errors() {
    for bad in [
        json!([1024, 768]),
        json!([-1, 5]),
        json!(["10", "20"]),
        json!([0.07, 0.03]),
        json!({"x": 1}),
        json!([f64::NAN, 1]),
        json!("10,20"),
    ] {
        let error = read(&json!({"action": "left_click", "coordinate": bad})).unwrap_err();
        assert!(matches!(error, GuiError::Point(_)), "{bad}: {error}");
        assert!(error.to_string().contains("1023"), "{error}");
    }
    for bad in [
        json!([0, 0, 1025, 5]),
        json!([5, 5, 5, 9]),
        json!([0, 0, 9]),
        json!("all"),
    ] {
        assert!(read(&json!({"action": "zoom", "region": bad})).is_err());
    }
}

/// What is missing, misspelt or out of range is named.
#[test]
fn other_mistakes_are_named() {
    for (arguments, named) in [
        (json!({"action": "clik"}), "left_click"),
        (
            json!({"action": "left_click", "coordinates": [1, 2]}),
            "coordinate",
        ),
        (json!({"action": "type"}), "`text` is missing"),
        (json!({"action": "mouse_move"}), "`coordinate` is missing"),
        (json!({"action": "wait", "duration": -1}), "0 to 100"),
        (json!({"action": "wait", "duration": 1e9}), "0 to 100"),
        (
            json!({"action": "scroll", "scroll_direction": "sideways"}),
            "`up`",
        ),
        (
            json!({"action": "scroll", "scroll_direction": "up", "scroll_amount": 1000}),
            "1 to 100",
        ),
        (json!({"action": "key", "text": "Entr"}), "Return"),
        (json!("screenshot"), "action"),
    ] {
        let text = read(&arguments).unwrap_err().to_string();
        assert!(text.contains(named), "{arguments}: {text}");
    }
}

/// A position before the first picture asks for a picture instead of guessing.
#[test]
fn a_position_needs_a_picture() {
    let reading = Reading {
        frame: None,
        coordinates: Coordinates::Pixels,
        keys: KeyOptions::default(),
    };
    let refused = parse(
        &json!({"action": "left_click", "coordinate": [1, 1]}),
        reading,
    );
    assert!(matches!(refused, Err(GuiError::Stale(_))));
    assert!(parse(&json!({"action": "key", "text": "Return"}), reading).is_ok());
}
