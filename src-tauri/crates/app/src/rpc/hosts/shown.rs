//! Hosts as they cross: names, and how what is known becomes what is shown.

use openspace_hosts::Kind;

use super::{
    HostClientView, HostDetailView, HostDiffLine, HostLaunch, HostPreviewView, HostSeenView,
    HostSkillChangeView, HostSkillView, HostView, choice,
};
use crate::{
    App,
    hosts::{
        DiffLine, DiffRow, HostClient, HostDetail, HostFormat, HostPreview, HostScope, HostSeen,
        HostSkill, HostState, Launch, SkillKind, SkillPreview, SkillState,
    },
};

choice! {
    /// How a host stands.
    pub enum HostStanding {
        /// It is not on this machine.
        NotFound,
        /// It is there and does not know us.
        NotRegistered,
        /// It knows us.
        Registered,
        /// It knows us and was told not to start us.
        Off,
        /// It knows us by a program that is not there any more, or will not be for long.
        Moved,
        /// We wrote an entry, and somebody removed it.
        Removed,
        /// An entry of our name that is not ours.
        Different,
        /// Its file cannot be used.
        Unusable,
    }

    /// What is done to a host's file.
    pub enum HostChangeKind {
        /// Our entry is written, or corrected.
        Register,
        /// Our entry is removed.
        Unregister,
        /// The file becomes what it was before the last change.
        Undo,
        /// Only our skills are put into the host's folder, or renewed there.
        InstallSkills,
        /// Only our skills are taken out of it.
        RemoveSkills,
    }

    /// How one of our skills stands with a host.
    pub enum HostSkillStanding {
        /// It is not there.
        Absent,
        /// It is there, as this program has it.
        Current,
        /// It is there, from an earlier version.
        Outdated,
        /// It is there, as somebody changed it.
        Changed,
        /// Another skill has its name.
        Foreign,
    }

    /// What a change does with one of our skills.
    pub enum HostSkillEffect {
        /// It comes.
        Install,
        /// A newer version takes its place.
        Renew,
        /// It goes.
        Remove,
        /// It stays as somebody changed it.
        Keep,
        /// Nothing has to be done.
        Nothing,
    }

    /// How a file is written.
    pub enum HostFormatName {
        /// JSON and nothing else.
        Json,
        /// JSON with comments, and commas after the last value.
        Jsonc,
        /// JSON5.
        Json5,
        /// TOML.
        Toml,
        /// YAML.
        Yaml,
    }

    /// What a change does.
    pub enum HostEffect {
        /// It adds our entry.
        Add,
        /// It puts our entry in the place of another.
        Replace,
        /// It corrects the program in our entry.
        Repair,
        /// It changes what differs in our entry, and nothing else of it.
        Adjust,
        /// It removes our entry.
        Remove,
        /// It brings back the file from before the last change.
        Undo,
        /// Nothing has to be done.
        Nothing,
    }

    /// What becomes of a line.
    pub enum HostDiffRow {
        /// It stays.
        Same,
        /// It is new.
        Added,
        /// It goes.
        Removed,
        /// Lines that stay were left out here.
        Gap,
        /// The line before has no end, since it is the last one.
        NoEnd,
    }
}

pub(super) fn view(app: &App, state: HostState, scope: HostScope) -> HostView {
    HostView {
        undoable: app.host_undoable(state.host, scope),
        custom: state.custom,
        forgettable: state.forgettable,
        connected: state.connected.map(Into::into),
        skills: state.skills.into_iter().map(Into::into).collect(),
        host: state.host.to_owned(),
        name: state.name.to_owned(),
        state: standing(state.state),
        file: state.file.display().to_string(),
        found_by: state.found_by.map(|path| path.display().to_string()),
        starts: state.starts.map(Into::into),
        starts_another: state.starts_another,
        other_entry: state.other_entry,
        problem: state.problem,
    }
}

pub(super) fn detail_view(app: &App, detail: HostDetail, scope: HostScope) -> HostDetailView {
    HostDetailView {
        host: view(app, detail.state, scope),
        format: detail.format.to_owned(),
        project_file: detail.project_file.map(str::to_owned),
        timeout_key: detail.timeout.map(|(key, _)| key.to_owned()),
        timeout: detail.timeout.map(|(_, value)| value),
        can_trust: detail.can_trust,
        most_tools: detail.most_tools,
        skills_there: detail.skills.as_ref().is_some_and(|path| path.is_dir()),
        skills: detail.skills.map(|path| path.display().to_string()),
        would_start: detail.would_start.into(),
        entry: detail.entry,
        snippet: detail.snippet,
        lends: detail.lends.into_iter().map(|it| it.place).collect(),
        refuses: detail.refuses,
    }
}

fn standing(state: &str) -> HostStanding {
    match state {
        "not_registered" => HostStanding::NotRegistered,
        "registered" => HostStanding::Registered,
        "off" => HostStanding::Off,
        "moved" => HostStanding::Moved,
        "removed" => HostStanding::Removed,
        "different" => HostStanding::Different,
        "unusable" => HostStanding::Unusable,
        _ => HostStanding::NotFound,
    }
}

impl From<Launch> for HostLaunch {
    fn from(launch: Launch) -> Self {
        Self {
            command: launch.command,
            args: launch.args,
            variables: launch.env.into_keys().collect(),
        }
    }
}

impl From<HostPreview> for HostPreviewView {
    fn from(preview: HostPreview) -> Self {
        Self {
            host: preview.host.to_owned(),
            name: preview.name.to_owned(),
            file: preview.file.display().to_string(),
            format: preview.format.to_owned(),
            effect: match preview.kind {
                Kind::Add => HostEffect::Add,
                Kind::Replace => HostEffect::Replace,
                Kind::Repair => HostEffect::Repair,
                Kind::Adjust => HostEffect::Adjust,
                Kind::Remove => HostEffect::Remove,
                Kind::Undo => HostEffect::Undo,
                Kind::Nothing => HostEffect::Nothing,
            },
            new_file: preview.new_file,
            removes_file: preview.removes_file,
            trusts: preview.trusts,
            backup: preview.backup.map(|path| path.display().to_string()),
            other_servers: u32::try_from(preview.other_servers).unwrap_or(u32::MAX),
            diff: lines(preview.diff),
            skills: preview.skills.into_iter().map(Into::into).collect(),
            fingerprint: preview.fingerprint,
        }
    }
}

fn lines(diff: Vec<DiffLine>) -> Vec<HostDiffLine> {
    let line = |line: DiffLine| HostDiffLine {
        row: match line.row {
            DiffRow::Same => HostDiffRow::Same,
            DiffRow::Added => HostDiffRow::Added,
            DiffRow::Removed => HostDiffRow::Removed,
            DiffRow::Gap => HostDiffRow::Gap,
            DiffRow::NoEnd => HostDiffRow::NoEnd,
        },
        old: line.old,
        new: line.new,
        text: line.text,
    };
    diff.into_iter().map(line).collect()
}

impl From<SkillPreview> for HostSkillChangeView {
    fn from(skill: SkillPreview) -> Self {
        Self {
            skill: skill.skill.to_owned(),
            folder: skill.folder.display().to_string(),
            effect: match skill.kind {
                SkillKind::Install => HostSkillEffect::Install,
                SkillKind::Renew => HostSkillEffect::Renew,
                SkillKind::Remove => HostSkillEffect::Remove,
                SkillKind::Keep => HostSkillEffect::Keep,
                SkillKind::Nothing => HostSkillEffect::Nothing,
            },
            backup: skill.backup.map(|path| path.display().to_string()),
            diff: lines(skill.diff),
            problem: skill.problem,
        }
    }
}

impl From<HostSkill> for HostSkillView {
    fn from(skill: HostSkill) -> Self {
        Self {
            skill: skill.skill.to_owned(),
            folder: skill.folder.display().to_string(),
            state: match skill.state {
                SkillState::Absent => HostSkillStanding::Absent,
                SkillState::Current => HostSkillStanding::Current,
                SkillState::Outdated => HostSkillStanding::Outdated,
                SkillState::Changed => HostSkillStanding::Changed,
                SkillState::Foreign => HostSkillStanding::Foreign,
            },
        }
    }
}

impl From<HostClient> for HostClientView {
    fn from(client: HostClient) -> Self {
        Self {
            name: client.name,
            version: client.version,
            protocol: client.protocol,
            at: client.at,
        }
    }
}

impl From<HostFormatName> for HostFormat {
    fn from(format: HostFormatName) -> Self {
        match format {
            HostFormatName::Json => Self::Json,
            HostFormatName::Jsonc => Self::Jsonc,
            HostFormatName::Json5 => Self::Json5,
            HostFormatName::Toml => Self::Toml,
            HostFormatName::Yaml => Self::Yaml,
        }
    }
}

impl From<HostSeen> for HostSeenView {
    fn from(seen: HostSeen) -> Self {
        Self {
            started: seen.started.into(),
            variables: seen.variables,
            server: seen.server,
            protocol: seen.protocol,
            tools: seen.tools,
            called: seen.called,
            call_failed: seen.call_failed,
            answer: seen.answer,
            noise: seen.noise,
            first_answer_ms: u32::try_from(seen.first_answer_ms).unwrap_or(u32::MAX),
            ended: seen.ended,
        }
    }
}
