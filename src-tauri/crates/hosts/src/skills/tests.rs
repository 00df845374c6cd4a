use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::*;
use crate::{Machine, Platform};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// A machine with a home of its own.
struct Rig(tempfile::TempDir);

impl Rig {
    fn new() -> Self {
        let rig = Self(tempfile::tempdir().expect("a folder"));
        fs::create_dir(rig.home()).expect("a home");
        rig
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn hosts(&self) -> Hosts {
        self.hosts_with(&[])
    }

    fn hosts_with(&self, variables: &[(&str, &Path)]) -> Hosts {
        let variables = variables
            .iter()
            .map(|(name, path)| (*name, path.display().to_string()));
        let machine = Machine {
            platform: Platform::here(),
            home: self.home(),
            environment: variables.collect(),
        };
        Hosts::new(machine, self.0.path().join("data"), Path::new("/none"))
    }

    fn folder(&self, skill: &str) -> PathBuf {
        self.home().join(".codex/skills").join(skill)
    }

    fn change(&self, wish: Wish) -> Vec<Result<SkillDone, Error>> {
        let done = self.hosts().change_skills(codex(), wish, NOW);
        done.expect("a list")
            .into_iter()
            .map(|(_, done)| done)
            .collect()
    }

    /// What was done with each skill.
    fn kinds(&self, wish: Wish) -> BTreeMap<&'static str, SkillKind> {
        let done = self.change(wish).into_iter();
        done.map(|done| done.expect("done").plan)
            .map(|plan| (plan.skill.name, plan.kind))
            .collect()
    }

    fn state(&self, skill: &str) -> SkillState {
        let reports = self.hosts().look_skills(codex()).expect("a list");
        let report = reports.into_iter().find(|report| report.name == skill);
        report.expect("a skill of ours").state
    }

    /// A skill as an earlier version of the program wrote it.
    fn earlier(&self, skill: &Skill, text: &str, version: u32) {
        let folder = self.folder(skill.name);
        write(&folder.join(FILE), text);
        let record = SkillRecord {
            host: "codex".to_owned(),
            folder,
            version,
            hash: hash(text),
            created: 0,
            at: 0,
        };
        self.hosts().ledger.put_skill(record).expect("recorded");
    }

    /// Every file and folder below the home folder.
    fn tree(&self) -> BTreeMap<PathBuf, Option<String>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let text = fs::read_to_string(&path).ok();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path, text);
            }
        }
        found
    }
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
    fs::write(file, text).expect("a file");
}

fn codex() -> &'static Host {
    crate::find("codex").expect("a host")
}

fn both(kind: SkillKind) -> BTreeMap<&'static str, SkillKind> {
    SKILLS.iter().map(|skill| (skill.name, kind)).collect()
}

/// What the format demands of each skill. When a text changes, so does its version here and in the
/// table: that is how hosts that have the earlier one are found.
#[test]
fn the_skills_are_what_the_format_wants() {
    let versions: Vec<_> = SKILLS
        .iter()
        .map(|skill| (skill.name, skill.version, hash(skill.text)[..8].to_owned()))
        .collect();
    assert_eq!(
        versions,
        [
            ("delegate-task", 1, "e78799d5".to_owned()),
            ("skill-discovery", 1, "ab1bb795".to_owned()),
        ]
    );
    for skill in &SKILLS {
        let rest = skill.text.strip_prefix("---\n").expect("a front matter");
        let (front, body) = rest.split_once("\n---\n").expect("its end");
        let field = |name: &str| {
            let mut lines = front.lines();
            lines.find_map(|line| line.strip_prefix(&format!("{name}: ")))
        };
        assert_eq!(field("name"), Some(skill.name));
        let description = field("description").expect("a description");
        assert!((100..=1_024).contains(&description.len()), "{}", skill.name);
        assert!(!description.contains(": "), "plain YAML: {}", skill.name);
        assert!(field("compatibility").is_some_and(|it| it.len() <= 500));
        let version = format!("  version: \"{}\"", skill.version);
        assert!(front.contains(&version), "{}", skill.name);
        assert!(body.lines().count() < 500, "{}", skill.name);
        assert!(!skill.text.contains('\r') && skill.text.ends_with('\n'));
    }
}

/// They come and go, and everything is as it was: with the folder of skills and without.
#[test]
fn installing_and_removing_leads_back() {
    for there_before in [false, true] {
        let rig = Rig::new();
        if there_before {
            write(&rig.folder("mine").join(FILE), "mine");
        }
        let before = rig.tree();
        assert_eq!(rig.kinds(Wish::Installed), both(SkillKind::Install));
        for skill in &SKILLS {
            let file = rig.folder(skill.name).join(FILE);
            assert_eq!(fs::read_to_string(file).expect("a skill"), skill.text);
            assert_eq!(rig.state(skill.name), SkillState::Current);
        }
        assert_eq!(rig.kinds(Wish::Installed), both(SkillKind::Nothing));
        // Somebody looked at it.
        fs::write(rig.folder("delegate-task").join(".DS_Store"), "x").expect("a file");
        assert_eq!(rig.kinds(Wish::Removed), both(SkillKind::Remove));
        assert_eq!(rig.tree(), before);
        assert_eq!(rig.kinds(Wish::Removed), both(SkillKind::Nothing));
    }
}

/// What has the name and is not ours is left as it is, whatever is wished.
#[test]
fn what_is_not_ours_is_never_touched() {
    let makes: [fn(&Path); 4] = [
        |folder| write(&folder.join(FILE), "---\nname: delegate-task\n---\nMine.\n"),
        |folder| fs::create_dir_all(folder).expect("an empty folder"),
        |folder| write(folder, "a file"),
        |folder| {
            write(&folder.join(FILE), SKILLS[0].text);
            write(&folder.join("notes.md"), "mine");
        },
    ];
    for make in makes {
        let rig = Rig::new();
        make(&rig.folder("delegate-task"));
        let before = rig.tree();
        assert_eq!(rig.state("delegate-task"), SkillState::Foreign);
        let mut done = rig.change(Wish::Installed);
        let other = done
            .pop()
            .expect("two")
            .expect("the other one is installed");
        assert_eq!(other.plan.kind, SkillKind::Install);
        let refused = done.pop().expect("two").expect_err("refused");
        assert!(matches!(refused, Error::ForeignSkill { .. }), "{refused}");
        for wish in [Wish::Renewed, Wish::Removed] {
            assert_eq!(rig.kinds(wish)["delegate-task"], SkillKind::Nothing);
        }
        assert_eq!(rig.tree(), before);
    }
}

/// Nothing is written through a link, and nothing removed behind one.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let rig = Rig::new();
    let kept = rig.home().join("dotfiles");
    write(&kept.join(FILE), SKILLS[0].text);
    let folder = rig.folder("delegate-task");
    fs::create_dir_all(folder.parent().expect("a folder")).expect("folders");
    std::os::unix::fs::symlink(&kept, &folder).expect("a link");
    assert_eq!(rig.state("delegate-task"), SkillState::Foreign);
    rig.kinds(Wish::Removed);
    assert!(kept.join(FILE).exists() && folder.is_symlink());
    fs::remove_file(&folder).expect("removed");

    rig.kinds(Wish::Installed);
    let file = folder.join(FILE);
    fs::rename(&file, kept.join("moved.md")).expect("moved");
    std::os::unix::fs::symlink(kept.join("moved.md"), &file).expect("a link");
    assert_eq!(rig.state("delegate-task"), SkillState::Changed);
    assert_eq!(rig.kinds(Wish::Removed)["delegate-task"], SkillKind::Keep);
    assert!(file.is_symlink());
}

/// What the person wrote into one of ours, or put beside it, is theirs.
#[test]
fn what_a_person_changed_stays() {
    let changes: [fn(&Path); 3] = [
        |folder| write(&folder.join(FILE), &format!("{}\nMine.\n", SKILLS[0].text)),
        |folder| write(&folder.join("scripts/mine.sh"), "true"),
        |folder| fs::remove_file(folder.join(FILE)).expect("removed"),
    ];
    for change in changes {
        let rig = Rig::new();
        rig.kinds(Wish::Installed);
        change(&rig.folder("delegate-task"));
        let before = rig.tree();
        assert_eq!(rig.state("delegate-task"), SkillState::Changed);
        for (wish, kind) in [
            (Wish::Installed, SkillKind::Keep),
            (Wish::Renewed, SkillKind::Nothing),
        ] {
            assert_eq!(rig.kinds(wish)["delegate-task"], kind);
            assert_eq!(rig.tree(), before);
        }
        let removed = rig.kinds(Wish::Removed);
        assert_eq!(removed["delegate-task"], SkillKind::Keep);
        assert_eq!(removed["skill-discovery"], SkillKind::Remove);
        let kept: Vec<_> = before
            .keys()
            .filter(|path| !path.starts_with(rig.folder("skill-discovery")))
            .collect();
        assert_eq!(rig.tree().keys().collect::<Vec<_>>(), kept);
    }
}

/// An earlier version is found and renewed, and a copy of it kept; a newer one is left alone.
#[test]
fn an_earlier_version_is_renewed() {
    let rig = Rig::new();
    let skill = &SKILLS[0];
    rig.earlier(skill, "as it was\n", skill.version - 1);
    assert_eq!(rig.state(skill.name), SkillState::Outdated);
    let plans = rig.hosts().plan_skills(codex(), Wish::Renewed);
    let plan = plans.expect("a list").remove(0).1.expect("a plan");
    let diff = plan.diff();
    assert!(
        diff.contains("-as it was") && diff.contains("+name: delegate-task"),
        "{diff}"
    );
    let would = plan.backup(NOW).expect("a copy");
    assert!(!would.exists(), "nothing was done yet");
    let done = rig.change(Wish::Renewed).remove(0).expect("renewed");
    assert_eq!(done.plan.kind, SkillKind::Renew);
    assert_eq!(done.backup.as_deref(), Some(would.as_path()));
    assert_eq!(fs::read_to_string(would).expect("a copy"), "as it was\n");
    assert_eq!(rig.state(skill.name), SkillState::Current);
    assert_eq!(
        rig.state("skill-discovery"),
        SkillState::Absent,
        "not asked for"
    );

    rig.earlier(skill, "as it will be\n", skill.version + 1);
    assert_eq!(rig.state(skill.name), SkillState::Current);
    assert_eq!(rig.kinds(Wish::Renewed), both(SkillKind::Nothing));
    assert_eq!(rig.kinds(Wish::Removed)[skill.name], SkillKind::Remove);
    assert!(!rig.folder(skill.name).exists());
}

/// What changed since a change was worked out is left alone.
#[test]
fn a_change_in_between_is_noticed() {
    let rig = Rig::new();
    let hosts = rig.hosts();
    let plan = |wish| {
        let mut plans = hosts.plan_skills(codex(), wish).expect("a list");
        let place = plans
            .iter()
            .position(|(skill, _)| skill.name == "delegate-task");
        plans.remove(place.expect("a plan")).1.expect("a plan")
    };
    let file = rig.folder("delegate-task").join(FILE);
    let refused = |plan| {
        let before = rig.tree();
        let refused = hosts.make_skill(plan, NOW).expect_err("refused");
        assert!(matches!(refused, Error::Changed { .. }), "{refused}");
        assert_eq!(rig.tree(), before);
    };
    let install = plan(Wish::Installed);
    fs::create_dir_all(rig.folder("delegate-task")).expect("somebody else's");
    refused(install);
    fs::remove_dir(rig.folder("delegate-task")).expect("gone");
    rig.kinds(Wish::Installed);
    let remove = plan(Wish::Removed);
    fs::write(&file, "mine\n").expect("changed");
    refused(remove);
    rig.earlier(&SKILLS[0], "earlier\n", 0);
    let renew = plan(Wish::Installed);
    fs::write(&file, "laterer\n").expect("changed, of the same length");
    refused(renew);
}

/// Ours are known as ours also when the list of them is lost.
#[test]
fn the_list_may_be_lost() {
    let rig = Rig::new();
    rig.kinds(Wish::Installed);
    fs::remove_file(rig.0.path().join("data/hosts.json")).expect("lost");
    assert_eq!(rig.state("delegate-task"), SkillState::Current);
    assert_eq!(rig.kinds(Wish::Installed), both(SkillKind::Nothing));
    let known = rig.hosts().ledger.find_skill(&rig.folder("delegate-task"));
    assert!(known.expect("a list").is_some(), "known again");
    assert_eq!(rig.kinds(Wish::Removed), both(SkillKind::Remove));
    assert!(!rig.folder("delegate-task").exists());
}

/// Hosts that keep everything elsewhere keep their skills there; those without a folder have none.
#[test]
fn the_folder_is_the_hosts_own() {
    let rig = Rig::new();
    let elsewhere = rig.home().join("elsewhere");
    for (host, variable) in [
        ("claude-code", "CLAUDE_CONFIG_DIR"),
        ("codex", "CODEX_HOME"),
        ("openclaw", "OPENCLAW_STATE_DIR"),
    ] {
        let host = crate::find(host).expect("a host");
        let hosts = rig.hosts_with(&[(variable, &elsewhere)]);
        assert_eq!(hosts.skills(host), Some(elsewhere.join("skills")));
        let usual = rig.hosts().skills(host).expect("a folder");
        assert!(usual.starts_with(rig.home()) && usual != elsewhere.join("skills"));
    }
    let cursor = crate::find("cursor").expect("a host");
    let plans = rig.hosts().plan_skills(cursor, Wish::Installed);
    assert!(plans.expect("a list").is_empty());
}
