use std::process;

use openspace_process::ancestry;

/// The chain of parents starts with the nearest and ends at the first process.
#[test]
fn parents_are_found() {
    let parents = ancestry::parents(process::id());
    assert_eq!(
        parents.first(),
        Some(&std::os::unix::process::parent_id()),
        "nearest first: {parents:?}"
    );
}

/// A runner among the parents gives a process away even when its environment says nothing.
#[test]
fn a_descendant_of_a_runner_is_known() {
    let parent = std::os::unix::process::parent_id();
    assert!(
        ancestry::descent(&[parent]).is_some(),
        "the parent is a runner"
    );
}
