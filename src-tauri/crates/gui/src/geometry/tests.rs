use proptest::prelude::*;
use serde_json::json;

use super::*;

fn frame(area: InputRect, scale: f64, physical: (u32, u32), sent: (u32, u32)) -> FrameGeometry {
    let monitor = Monitor {
        name: "m".into(),
        area,
        scale,
        primary: true,
    };
    FrameGeometry {
        generation: 7,
        layout: layout(std::slice::from_ref(&monitor)),
        monitor,
        physical: Size {
            width: physical.0,
            height: physical.1,
        },
        sent: Size {
            width: sent.0,
            height: sent.1,
        },
    }
}

fn plain(width: u32, height: u32, sent: (u32, u32)) -> FrameGeometry {
    let area = InputRect {
        x: 0,
        y: 0,
        width,
        height,
    };
    frame(area, 1.0, (width, height), sent)
}

/// D-01: the corners and the middle of a big screen come out within a pixel, rounded at centres.
#[test]
fn d01_probe_points_of_a_2560_screen() {
    let frame = plain(2560, 1440, (1456, 819));
    let hit = |x, y| {
        let point = frame.sent(x, y).unwrap();
        let InputPoint { x, y } = frame.sent_to_input(point).unwrap();
        (x, y)
    };
    assert_eq!(hit(0, 0), (0, 0));
    assert_eq!(hit(1455, 818), (2559, 1439));
    assert_eq!(hit(1455, 0), (2559, 0));
    assert_eq!(hit(0, 818), (0, 1439));
    assert_eq!(hit(728, 409), (1280, 720));
}

/// D-03: the origin of the monitor is added, a negative one too.
#[test]
fn d03_monitors_with_an_origin() {
    let area = |x, y| InputRect {
        x,
        y,
        width: 1280,
        height: 1024,
    };
    let middle = frame(area(1280, 0), 1.0, (1280, 1024), (1280, 1024));
    let point = middle.sent(10, 20).unwrap();
    assert_eq!(
        middle.sent_to_input(point).unwrap(),
        InputPoint { x: 1290, y: 20 }
    );
    let left = frame(area(-1280, -100), 2.0, (2560, 2048), (1280, 1024));
    let point = left.sent(0, 0).unwrap();
    assert_eq!(
        left.sent_to_input(point).unwrap(),
        InputPoint { x: -1280, y: -100 }
    );
    assert_eq!(left.input_to_sent(InputPoint { x: 0, y: 0 }), None);
}

/// D-08: whatever is not two whole numbers on the picture is an error that names the range.
#[test]
fn d08_positions_that_are_not_on_the_picture() {
    let frame = plain(1024, 768, (1024, 768));
    let read = |value| frame.read(&value, Coordinates::Pixels);
    assert!(matches!(
        read(json!([1024, 768])),
        Err(PointError::Outside {
            max_x: 1023,
            max_y: 767,
            ..
        })
    ));
    assert!(matches!(
        read(json!([-1, 5])),
        Err(PointError::Outside { x: -1, .. })
    ));
    for bad in [
        json!(["10", "20"]),
        json!([0.07, 0.03]),
        json!([512.0, 3.0]),
        json!({"x": 1}),
        json!("10,20"),
        json!([1, 2, 3]),
        json!([1]),
        json!([]),
        json!(null),
        json!([null, 1]),
        json!(["NaN", 1]),
        json!([f64::NAN, 1]),
        json!([u64::MAX, 1]),
    ] {
        let error = read(bad.clone()).unwrap_err();
        assert!(matches!(error, PointError::Form { .. }), "{bad}: {error}");
        assert!(
            error.to_string().contains("1023"),
            "{error} names the range"
        );
    }
    let good = read(json!([1023, 767])).unwrap();
    assert_eq!((good.x, good.y, good.generation), (1023, 767, 7));
}

/// D-08: normalised positions are read as such only for models that write them.
#[test]
fn d08_normalised_positions_follow_the_profile() {
    let frame = plain(1456, 819, (1456, 819));
    let read = |x: i64, y: i64, coordinates| {
        frame
            .read(&json!([x, y]), coordinates)
            .map(|point| (point.x, point.y))
    };
    assert_eq!(read(500, 500, Coordinates::Thousandths), Ok((728, 409)));
    assert_eq!(read(1000, 1000, Coordinates::Thousandths), Ok((1455, 818)));
    assert!(read(1001, 0, Coordinates::Thousandths).is_err());
    assert_eq!(read(999, 0, Coordinates::Permille), Ok((1455, 0)));
    assert!(read(1000, 0, Coordinates::Permille).is_err());
    assert_eq!(read(500, 500, Coordinates::Pixels), Ok((500, 500)));
}

/// A point of an older frame is refused instead of being mapped by the wrong one.
#[test]
fn a_point_of_another_frame_is_refused() {
    let frame = plain(100, 100, (50, 50));
    let mut point = frame.sent(1, 1).unwrap();
    point.generation = 6;
    assert_eq!(
        frame.sent_to_input(point),
        Err(PointError::OtherFrame {
            found: 6,
            current: 7
        })
    );
}

/// A region maps to all captured pixels it shows, and one outside is an error.
#[test]
fn regions_cover_partly_shown_pixels() {
    let frame = plain(3840, 2160, (1456, 819));
    let all = SentRect {
        x0: 0,
        y0: 0,
        x1: 1456,
        y1: 819,
    };
    assert_eq!(
        frame.region(all).unwrap(),
        PhysicalRect {
            x: 0,
            y: 0,
            width: 3840,
            height: 2160
        }
    );
    let part = SentRect {
        x0: 1,
        y0: 1,
        x1: 2,
        y1: 2,
    };
    assert_eq!(
        frame.region(part).unwrap(),
        PhysicalRect {
            x: 2,
            y: 2,
            width: 4,
            height: 4
        }
    );
    for bad in [(0, 0, 1457, 10), (5, 5, 5, 10), (9, 0, 3, 4)] {
        let (x0, y0, x1, y1) = bad;
        assert!(frame.region(SentRect { x0, y0, x1, y1 }).is_err());
    }
}

/// A frame's geometry comes back from the store as it went in.
#[test]
fn geometry_survives_serialisation() {
    let frame = plain(1920, 1080, (1456, 819));
    let text = serde_json::to_string(&frame).unwrap();
    assert_eq!(serde_json::from_str::<FrameGeometry>(&text).unwrap(), frame);
}

prop_compose! {
    fn frames()(
        x in -8000_i32..8000, y in -8000_i32..8000,
        width in 1_u32..8000, height in 1_u32..8000,
        scale in prop::sample::select(vec![1.0, 1.25, 1.5, 2.0, 3.0]),
        shrink in 0.05_f64..=1.0,
    ) -> FrameGeometry {
        let pixels = |length: u32| ((f64::from(length) * scale).round() as u32).max(1);
        let physical = (pixels(width), pixels(height));
        let sent = |length: u32| ((f64::from(length) * shrink).round() as u32).clamp(1, length);
        frame(
            InputRect { x, y, width, height },
            scale,
            physical,
            (sent(physical.0), sent(physical.1)),
        )
    }
}

proptest! {
    /// A click lands within one unit of the exactly scaled point, on the monitor, on any geometry.
    #[test]
    fn clicks_land_within_a_pixel(frame in frames(), fx in 0.0_f64..1.0, fy in 0.0_f64..1.0) {
        let at = |fraction: f64, size: u32| (fraction * f64::from(size)) as i64;
        let point = frame.sent(at(fx, frame.sent.width), at(fy, frame.sent.height)).unwrap();
        let hit = frame.sent_to_input(point).unwrap();
        prop_assert!(frame.monitor.area.contains(hit));
        let exact = |at: u32, from: u32, to: u32| {
            (f64::from(at) + 0.5) * f64::from(to) / f64::from(from)
        };
        let area = frame.monitor.area;
        let dx = f64::from(hit.x - area.x) + 0.5 - exact(point.x, frame.sent.width, area.width);
        let dy = f64::from(hit.y - area.y) + 0.5 - exact(point.y, frame.sent.height, area.height);
        prop_assert!(dx.abs() <= 0.5 + 1e-6 && dy.abs() <= 0.5 + 1e-6, "{dx} {dy}");
        let pixel = frame.sent_to_physical(point).unwrap();
        prop_assert!(pixel.x < frame.physical.width && pixel.y < frame.physical.height);
    }

    /// There and back again is the same sent pixel, since pictures are never enlarged.
    #[test]
    fn sent_points_survive_the_round_trip(frame in frames(), fx in 0.0_f64..1.0, fy in 0.0_f64..1.0) {
        let at = |fraction: f64, size: u32| (fraction * f64::from(size)) as i64;
        let point = frame.sent(at(fx, frame.sent.width), at(fy, frame.sent.height)).unwrap();
        let pixel = frame.sent_to_physical(point).unwrap();
        prop_assert_eq!(frame.physical_to_sent(pixel), point);
    }

    /// Nothing outside is ever moved inside.
    #[test]
    fn nothing_is_clamped(frame in frames(), x in any::<i64>(), y in any::<i64>()) {
        let inside = |at: i64, size: u32| (0..i64::from(size)).contains(&at);
        let expected = inside(x, frame.sent.width) && inside(y, frame.sent.height);
        prop_assert_eq!(frame.read(&json!([x, y]), Coordinates::Pixels).is_ok(), expected);
    }
}
