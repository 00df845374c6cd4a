use super::*;

fn black(width: u32, height: u32) -> Capture {
    Capture::new(width, height, vec![0; (width * height * 4) as usize])
}

fn with_dot(mut capture: Capture, x: u32, y: u32) -> Capture {
    capture.bgrx[((y * capture.width + x) * 4) as usize] = 255;
    capture
}

/// The region encloses every changed pixel and ends at the picture's edge.
#[test]
fn the_region_encloses_what_changed() {
    let before = black(100, 70);
    let after = with_dot(with_dot(before.clone(), 40, 5), 99, 69);
    let change = Change::between(&before, &after);
    assert_eq!(
        change.region(),
        Some(PhysicalRect {
            x: 32,
            y: 0,
            width: 68,
            height: 70
        })
    );
    assert!(!change.is_empty());
    assert!(Change::between(&before, &before).is_empty());
    assert_eq!(Change::between(&before, &before).region(), None);
}

/// Another size is a change everywhere.
#[test]
fn another_size_is_a_change() {
    let change = Change::between(&black(64, 32), &black(32, 64));
    assert_eq!(
        change.region().map(|area| (area.width, area.height)),
        Some((32, 64))
    );
}

/// A blinking caret is small, a new window is not, and restless tiles can be left out.
#[test]
fn small_and_restless() {
    let before = black(1280, 800);
    let caret = with_dot(before.clone(), 500, 300);
    let blink = Change::between(&before, &caret);
    assert!(blink.is_small());
    assert!(blink.touches(PhysicalPoint { x: 490, y: 320 }));
    assert!(!blink.touches(PhysicalPoint { x: 100, y: 320 }));
    assert!(blink.clone().without(&blink).is_empty());
    let mut window = before.clone();
    window.bgrx[..1280 * 4 * 200].fill(9);
    assert!(!Change::between(&before, &window).is_small());
}
