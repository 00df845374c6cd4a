//! A second process: this test binary, started again with a part to play.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
};

use openspace_store::{Instance, Store};

use crate::home::{event, new_instance};

const PART: &str = "OPENSPACE_STORE_TEST_PART";
const FOLDER: &str = "OPENSPACE_STORE_TEST_FOLDER";
/// Marks the child's own lines among those of the test harness.
const MARK: &str = "child says ";

/// A running child, killed when it is dropped.
pub(crate) struct Part {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Part {
    pub(crate) fn play(part: &str, folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child::child", "--exact", "--nocapture"])
            .env(PART, part)
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// What the child says next.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "the child ended early"
            );
            if let Some((_, said)) = line.split_once(MARK) {
                return said.trim().to_owned();
            }
        }
    }

    /// SIGKILL on Unix: nothing of the child runs any more.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its input, which tells it to end, and waits.
    pub(crate) fn finish(mut self) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        assert!(
            self.child.wait().unwrap().success(),
            "the child failed: {rest}"
        );
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Already over in the usual case.
        let _over = self.child.kill();
        let _over = self.child.wait();
    }
}

/// Not a test of its own: the child's side of those that need two processes.
#[test]
fn child() {
    let (Ok(part), Ok(folder)) = (std::env::var(PART), std::env::var(FOLDER)) else {
        return;
    };
    let store = Store::open(Path::new(&folder)).unwrap();
    match part.as_str() {
        "write" => write_in_threads(&store, "child"),
        "write_forever" => {
            for number in 0.. {
                store
                    .call_blocking(|db| {
                        db.events().append(event("one", number))?;
                        db.events().append(event("two", number))
                    })
                    .unwrap();
                if number == 50 {
                    println!("{MARK}busy");
                }
            }
        }
        "execute" => {
            let instance = Instance::register(&store, &new_instance()).unwrap();
            let fence = store
                .call_blocking(|db| db.runs().claim_next(instance.id()))
                .unwrap()
                .unwrap();
            println!("{MARK}{}", fence.run());
            wait_for_end_of_input();
        }
        other => panic!("no such part: {other}"),
    }
}

/// 4 threads with 100 events each, on a key of their own and on a shared one.
pub(crate) fn write_in_threads(store: &Store, name: &str) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..50 {
                    for key in [format!("{name}-{thread}"), "shared".to_owned()] {
                        store
                            .call_blocking(|db| db.events().append(event(&key, number)))
                            .unwrap();
                    }
                }
            });
        }
    });
}

fn wait_for_end_of_input() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
