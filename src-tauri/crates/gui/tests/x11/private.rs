//! A display of our own.

use openspace_gui::InputPoint;
use openspace_gui::platform::{self, PrivateDisplay};
use openspace_testkit::{TestHome, wait_until};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use super::yes;

/// It has the size asked for, lets only those in who have its cookie, and is gone when dropped,
/// although the thread that asked for it ended long before.
#[test]
fn a_private_display_lives_as_long_as_its_value() {
    let home = TestHome::new().unwrap();
    let folder = home.runtime();
    let display = std::thread::spawn(move || PrivateDisplay::start(1000, 700, &folder))
        .join()
        .unwrap()
        .unwrap();
    let file = display.authority().to_owned();
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let options = platform::Options {
        display: Some(display.name().to_owned()),
        authority: Some(file.clone()),
        ..Default::default()
    };
    let mut platform = platform::open(&options).unwrap();
    let monitor = platform.screen.monitors().unwrap().remove(0);
    assert_eq!((monitor.area.width, monitor.area.height), (1000, 700));
    platform
        .input
        .move_to(InputPoint { x: 999, y: 699 }, &yes)
        .unwrap();
    let empty = home.root().join("empty");
    std::fs::write(&empty, "").unwrap();
    let stranger = platform::Options {
        authority: Some(empty),
        ..options
    };
    assert!(platform::open(&stranger).is_err());

    let processes: Vec<PathBuf> = display
        .pids()
        .iter()
        .map(|pid| PathBuf::from(format!("/proc/{pid}")))
        .collect();
    assert!(!processes.is_empty() && processes.iter().all(|it| it.exists()));
    drop(display);
    assert!(wait_until(Duration::from_secs(3), || processes
        .iter()
        .all(|it| !it.exists())));
    assert!(!file.exists());
}
