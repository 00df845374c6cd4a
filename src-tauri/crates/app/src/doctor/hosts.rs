//! Whether the hosts that were registered still start us.

use super::{Check, Health, say};
use crate::{
    App,
    hosts::{HostFinding, HostPlaceOf},
};

const ID: &str = "hosts";

impl App {
    /// One line when all is well, else one for each host that needs somebody.
    pub(super) fn check_registered(&self) -> Vec<Check> {
        let check = match self.check_hosts(true) {
            Ok(check) => check,
            Err(failure) => {
                let failed = say("check.hosts.failed");
                return vec![Check::failed(ID, Health::Off, failed, &failure)];
            }
        };
        let mut wrong: Vec<_> = check.findings.iter().filter_map(of_finding).collect();
        if let Some(copy) = check.stale_copy {
            let found = say("check.hosts.stale").with("file", copy.display().to_string());
            let stale = Check::new(ID, Health::Warning, found);
            wrong.push(stale.fix(say("check.hosts.stale.fix")));
        }
        if !wrong.is_empty() {
            return wrong;
        }
        let mut states = check.findings.iter().map(|finding| finding.state);
        let count = states.by_ref().filter(|&it| it == "registered").count();
        vec![if count == 0 {
            Check::new(ID, Health::Off, say("check.hosts.none"))
        } else {
            let found = say("check.hosts.ok").with("count", count.to_string());
            Check::new(ID, Health::Ok, found)
        }]
    }
}

/// What is wrong with an entry that we wrote. What others call `openspace`, and files of hosts that
/// never knew us, are nobody's fault.
fn of_finding(finding: &HostFinding) -> Option<Check> {
    let (found, fix) = match finding.state {
        _ if finding.cure == "elsewhere" => ("check.hosts.elsewhere", "check.hosts.elsewhere.fix"),
        "moved" => ("check.hosts.moved", "check.hosts.moved.fix"),
        "removed" => ("check.hosts.removed", "check.hosts.removed.fix"),
        "different" if finding.ours => ("check.hosts.different", "check.hosts.different.fix"),
        "unusable" if finding.ours => ("check.hosts.unusable", "check.hosts.unusable.fix"),
        _ => return None,
    };
    let of_host = |key: &str| {
        say(key)
            .with("host", finding.name)
            .with("id", finding.host)
            .with("file", finding.file.display().to_string())
    };
    let mut check = Check::new(ID, Health::Warning, of_host(found)).fix(of_host(fix));
    check.host = Some(HostPlaceOf {
        host: finding.host,
        file: (!finding.own).then(|| finding.file.clone()),
    });
    Some(match &finding.problem {
        Some(problem) => check.detail(problem.message.as_str()),
        None => check,
    })
}
