use std::sync::Arc;

use super::*;
use crate::InputRect;

/// What was asked of the screen.
#[derive(Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl DrawRing for Asked {
    fn show(&mut self, at: InputPoint) {
        locked(&self.0).push(format!("show {} {}", at.x, at.y));
    }

    fn hide(&mut self) {
        locked(&self.0).push("hide".to_owned());
    }

    fn window(&self) -> u64 {
        7
    }
}

fn ring(watched: bool) -> (TargetRing, Arc<Mutex<Vec<String>>>) {
    let asked = Asked::default();
    let log = Arc::clone(&asked.0);
    (
        TargetRing::new(Box::new(asked), Box::new(move || watched)),
        log,
    )
}

fn monitor() -> Monitor {
    Monitor {
        name: "right".into(),
        area: InputRect {
            x: 100,
            y: -50,
            width: 200,
            height: 120,
        },
        scale: 1.0,
        primary: true,
    }
}

fn picture() -> Capture {
    let pixels = (0..120_u32).flat_map(|y| (0..200_u32).map(move |x| [x as u8, y as u8, 7, 0xff]));
    Capture::new(200, 120, pixels.flatten().collect())
}

/// The picture with the ring painted on it, as the screen shows it.
fn ringed(middle: (i32, i32)) -> Capture {
    let mut picture = picture();
    let corner = (middle.0 - RADIUS, middle.1 - RADIUS);
    for at in square(corner).filter(|at| is_ring(*at, corner)) {
        if let Some(index) = index(&picture, at) {
            picture.bgrx[index..index + 4].copy_from_slice(&[1, 2, 3, 4]);
        }
    }
    picture
}

/// A picture taken while the ring stays is the picture without it, at the edge of the screen too.
#[test]
fn no_picture_has_the_ring() {
    for (at, middle) in [((180, 10), (80, 60)), ((103, -48), (3, 2))] {
        let (ring, log) = ring(true);
        ring.show(InputPoint { x: at.0, y: at.1 }, &monitor(), &picture());
        assert_eq!(*locked(&log), [format!("show {} {}", at.0, at.1)]);
        let mut seen = ringed(middle);
        assert_ne!(seen, picture(), "the ring can be seen");
        ring.erase(&monitor(), &mut seen);
        assert_eq!(seen, picture());
        assert!(!ring.is_disturbed(&monitor(), &seen));
    }
}

/// What changes beside the ring makes what is below it unknown; far away, or once the ring was taken
/// away, it does not.
#[test]
fn changes_around_the_ring_are_noticed() {
    let (ring, log) = ring(true);
    ring.show(InputPoint { x: 180, y: 10 }, &monitor(), &picture());
    let changed = |at: (i32, i32)| {
        let mut seen = ringed((80, 60));
        ring.erase(&monitor(), &mut seen);
        let index = index(&seen, at).expect("a pixel");
        seen.bgrx[index] ^= 0x40;
        seen
    };
    assert!(ring.is_disturbed(&monitor(), &changed((80, 60))));
    assert!(!ring.is_disturbed(&monitor(), &changed((80, 100))));
    ring.hide();
    assert_eq!(locked(&log).last().map(String::as_str), Some("hide"));
    assert!(!ring.is_disturbed(&monitor(), &changed((80, 60))));
}

/// Two clicks close together: the second ring's square has part of the first one.
#[test]
fn rings_that_meet_are_both_erased() {
    let (ring, _) = ring(true);
    ring.show(InputPoint { x: 180, y: 10 }, &monitor(), &picture());
    let mut before = ringed((80, 60));
    ring.erase(&monitor(), &mut before);
    ring.show(InputPoint { x: 190, y: 10 }, &monitor(), &before);
    let mut seen = ringed((90, 60));
    ring.erase(&monitor(), &mut seen);
    assert_eq!(seen, picture());
}

/// Where nobody looks there is no ring, and nothing is put into pictures.
#[test]
fn nobody_is_shown_nothing() {
    let (ring, log) = ring(false);
    ring.show(InputPoint { x: 180, y: 10 }, &monitor(), &picture());
    let mut seen = ringed((80, 60));
    ring.erase(&monitor(), &mut seen);
    assert_eq!(seen, ringed((80, 60)));
    assert_eq!(*locked(&log), [""; 0]);
}

/// The lines the server is given are the pixels that pictures are freed of.
#[cfg(target_os = "linux")]
#[test]
fn lines_are_the_pixels_of_the_ring() {
    let mut drawn: Vec<(i32, i32)> = Vec::new();
    for (left, row, length) in lines() {
        drawn.extend((0..i32::from(length)).map(|x| (i32::from(left) + x, i32::from(row))));
    }
    let pixels: Vec<_> = square((0, 0)).filter(|at| is_ring(*at, (0, 0))).collect();
    assert_eq!(drawn, pixels);
    assert!(!is_ring((RADIUS, RADIUS), (0, 0)), "its middle is free");
}
