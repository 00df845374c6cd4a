//! Agent programs on this machine that can use us: how they stand, and changes to their files, which
//! are shown before they are made.

mod shown;

use std::{path::PathBuf, sync::Arc};

pub use shown::{
    HostChangeKind, HostDiffRow, HostEffect, HostFormatName, HostSkillEffect, HostSkillStanding,
    HostStanding,
};

use shown::{detail_view, view};

use super::{Call, Nothing, choice, payload};
use crate::{
    App, Code, Failure,
    failure::Result,
    hosts::{HOST_PATIENCE, HostAction, HostRequest, HostScope, HostWritten, NewHost},
};

payload! {
    /// Hosts.
    pub struct HostsListResponse {
        /// Every host that is known, with the person's own file.
        pub hosts: Vec<HostView>,
        /// Files of projects and profiles that were written into.
        pub others: Vec<HostView>,
        /// Programs that connected to our server and belong to none of these, the last one first.
        pub strangers: Vec<HostClientView>,
    }

    /// A program that connected to our server, by its own words.
    pub struct HostClientView {
        /// What it calls itself.
        pub name: String,
        /// The version it says it is.
        pub version: String,
        /// The version of the protocol it asked for.
        pub protocol: String,
        /// When it connected last, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number"))]
        pub at: i64,
    }

    /// One of our skills in a host's folder.
    pub struct HostSkillView {
        /// Its name.
        pub skill: String,
        /// Its folder, there or not.
        pub folder: String,
        /// How it stands.
        pub state: HostSkillStanding,
    }

    /// How a host stands.
    pub struct HostView {
        /// Its name in requests.
        pub host: String,
        /// Its name.
        pub name: String,
        /// How it stands.
        pub state: HostStanding,
        /// Its file, there or not.
        pub file: String,
        /// What gave it away; null when it was not found.
        pub found_by: Option<String>,
        /// What our entry starts.
        pub starts: Option<HostLaunch>,
        /// The entry starts another copy of this program than a new one would, or one that has its
        /// files in other folders.
        pub starts_another: bool,
        /// The other entry of our name, as JSON without secrets.
        pub other_entry: Option<String>,
        /// Why its file cannot be used.
        pub problem: Option<Failure>,
        /// When the last change was made that can still be taken back, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub undoable: Option<i64>,
        /// A person named it.
        pub custom: bool,
        /// It can be forgotten: a person named it, and nothing of us is in its file.
        pub forgettable: bool,
        /// Its client, as it connected to our server last.
        pub connected: Option<HostClientView>,
        /// Our skills in its folder; none where it has no such folder.
        pub skills: Vec<HostSkillView>,
    }

    /// What is started.
    pub struct HostLaunch {
        /// The program.
        pub command: String,
        /// Its arguments.
        pub args: Vec<String>,
        /// Names of the variables it gets, never their values.
        pub variables: Vec<String>,
    }

    /// A file of a host.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct HostPlace {
        /// The host.
        pub host: String,
        /// One of its files that was written into before; the person's own without it.
        #[serde(default)]
        pub file: Option<String>,
        /// The folder of a project whose file is meant.
        #[serde(default)]
        pub project: Option<String>,
    }

    /// Everything about a host.
    pub struct HostDetailView {
        /// How it stands.
        pub host: HostView,
        /// Format of its file, such as `TOML`.
        pub format: String,
        /// The file of a project, from the project's folder.
        pub project_file: Option<String>,
        /// The host's name for the longest time a call may take.
        pub timeout_key: Option<String>,
        /// What we set it to, in the host's own unit.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub timeout: Option<u64>,
        /// It can be told to run our tools without asking.
        pub can_trust: bool,
        /// How many tools it takes altogether.
        pub most_tools: Option<u32>,
        /// The folder of its skills.
        pub skills: Option<String>,
        /// That folder is there.
        pub skills_there: bool,
        /// What a new entry would start.
        pub would_start: HostLaunch,
        /// Our entry alone, as JSON whatever the format of the file.
        pub entry: String,
        /// Our entry, to be pasted by hand.
        pub snippet: String,
        /// Places in its file with something that it could lend us; never what.
        pub lends: Vec<String>,
        /// Places where a key should be and none is that could be used.
        pub refuses: Vec<String>,
    }

    /// A change to a host's file.
    pub struct HostChangeRequest {
        /// The file.
        pub place: HostPlace,
        /// What is done.
        pub change: HostChangeKind,
        /// Also put our entry in the place of another of the same name, or remove that.
        #[serde(default)]
        pub force: bool,
        /// Let the host run our tools without asking.
        #[serde(default)]
        pub trust: bool,
        /// Also make the file of a host that was not found.
        #[serde(default)]
        pub create: bool,
        /// With a registration: also put our skills into its folder. With undo: take them out.
        #[serde(default)]
        pub skills: bool,
    }

    /// A change as it would be made.
    pub struct HostPreviewView {
        /// The host.
        pub host: String,
        /// Its name.
        pub name: String,
        /// The file.
        pub file: String,
        /// Its format, such as `TOML`.
        pub format: String,
        /// What it does.
        pub effect: HostEffect,
        /// The file comes with it.
        pub new_file: bool,
        /// The file goes with it.
        pub removes_file: bool,
        /// The host runs our tools without asking.
        pub trusts: bool,
        /// The copy of the file as it was before.
        pub backup: Option<String>,
        /// How many other servers the file has.
        pub other_servers: u32,
        /// Line by line, without secrets.
        pub diff: Vec<HostDiffLine>,
        /// What is done with our skills.
        pub skills: Vec<HostSkillChangeView>,
        /// What tells this change from every other: given back to make it.
        pub fingerprint: String,
    }

    /// A change to one of our skills with a host.
    pub struct HostSkillChangeView {
        /// The skill.
        pub skill: String,
        /// Its folder.
        pub folder: String,
        /// What is done.
        pub effect: HostSkillEffect,
        /// The copy of the file as it was before.
        pub backup: Option<String>,
        /// Line by line.
        pub diff: Vec<HostDiffLine>,
        /// Why it is left alone, or was.
        pub problem: Option<Failure>,
    }

    /// A line of a change.
    pub struct HostDiffLine {
        /// What becomes of it.
        pub row: HostDiffRow,
        /// Its number before.
        pub old: Option<u32>,
        /// Its number afterwards.
        pub new: Option<u32>,
        /// What it says.
        pub text: String,
    }

    /// Makes a change that was shown.
    pub struct HostApplyRequest {
        /// The same as it was shown for.
        pub request: HostChangeRequest,
        /// That of the change that was shown.
        pub fingerprint: String,
    }

    /// What came of it.
    pub struct HostApplied {
        /// It was made. Otherwise nothing was written, since the file is not what it was then.
        pub made: bool,
        /// What was made, or what would be made now.
        pub preview: HostPreviewView,
    }

    /// What was seen of our server under a host.
    pub struct HostSeenView {
        /// What was started.
        pub started: HostLaunch,
        /// Names of all variables it was given.
        pub variables: Vec<String>,
        /// What the server calls itself, with its version.
        pub server: String,
        /// The version of the protocol it chose.
        pub protocol: String,
        /// Its tools.
        pub tools: Vec<String>,
        /// The tool that was called.
        pub called: String,
        /// The tool said that it did not work, which is an answer too.
        pub call_failed: bool,
        /// The beginning of its answer.
        pub answer: String,
        /// Lines on standard output that are no messages.
        pub noise: Vec<String>,
        /// Milliseconds until the first answer.
        pub first_answer_ms: u32,
        /// It ended when its input did.
        pub ended: bool,
    }

    /// An agent that a person names.
    pub struct HostAddRequest {
        /// Its name.
        pub name: String,
        /// Its file, there or not.
        pub file: String,
        /// How the file is written.
        pub format: HostFormatName,
        /// The map of servers within it: its key, or the keys on the way to it with dots between
        /// them. One with a dot in it stands in quotes where the file does not have it yet.
        pub key: String,
    }

    /// It is a host from now on.
    pub struct HostAdded {
        /// Its name in requests.
        pub host: String,
    }

    /// Names one that a person named before.
    pub struct HostForgetRequest {
        /// Its name in requests.
        pub host: String,
    }

    /// Asks for the program that entries start.
    pub struct HostProgramRequest {
        /// Copy it anew if it is missing or out of date.
        #[serde(default)]
        pub renew: bool,
    }

    /// The program that entries start.
    pub struct HostProgram {
        /// Where it is, when it was missing or out of date.
        pub stale: Option<String>,
    }
}

impl Call<'_> {
    pub(super) async fn hosts_list(&self, _: Nothing) -> Result<HostsListResponse> {
        self.with_hosts(|app| {
            let own = app.host_states()?.into_iter();
            let others = app.host_others()?.into_iter();
            Ok(HostsListResponse {
                hosts: own.map(|state| view(app, state, HostScope::User)).collect(),
                others: others
                    .map(|state| {
                        let scope = HostScope::File(state.file.clone());
                        view(app, state, scope)
                    })
                    .collect(),
                strangers: app.other_clients()?.into_iter().map(Into::into).collect(),
            })
        })
        .await
    }

    pub(super) async fn host_add(&self, request: HostAddRequest) -> Result<HostAdded> {
        self.refuse_while_controlled(None).await?;
        let added = self
            .with_hosts(move |app| {
                app.add_host(NewHost {
                    name: request.name,
                    file: super::starts::from_home(&app.paths.home, request.file.trim()),
                    format: request.format.into(),
                    key: request.key,
                })
            })
            .await?;
        self.tell_hosts(added.host).await?;
        Ok(HostAdded {
            host: added.host.to_owned(),
        })
    }

    pub(super) async fn host_forget(&self, request: HostForgetRequest) -> Result<Nothing> {
        self.refuse_while_controlled(None).await?;
        let host = request.host.clone();
        self.with_hosts(move |app| app.forget_host(&host)).await?;
        self.tell_hosts(&request.host).await?;
        Ok(Nothing {})
    }

    pub(super) async fn host_detail(&self, place: HostPlace) -> Result<HostDetailView> {
        self.with_hosts(move |app| {
            let scope = scope(app, &place)?;
            let detail = app.host_detail(&place.host, scope.clone())?;
            Ok(detail_view(app, detail, scope))
        })
        .await
    }

    pub(super) async fn host_preview(&self, request: HostChangeRequest) -> Result<HostPreviewView> {
        self.with_hosts(move |app| {
            let (action, request) = request.of(app)?;
            app.preview_host(action, &request).map(Into::into)
        })
        .await
    }

    pub(super) async fn host_change(&self, request: HostApplyRequest) -> Result<HostApplied> {
        self.refuse_while_controlled(None).await?;
        let host = request.request.place.host.clone();
        let applied = self
            .with_hosts(move |app| {
                let (action, wanted) = request.request.of(app)?;
                let written = app.make_host_change(action, &wanted, &request.fingerprint)?;
                Ok(match written {
                    HostWritten::Made(preview) => HostApplied {
                        made: true,
                        preview: preview.into(),
                    },
                    HostWritten::Otherwise(preview) => HostApplied {
                        made: false,
                        preview: preview.into(),
                    },
                })
            })
            .await?;
        if applied.made {
            self.tell_hosts(&host).await?;
        }
        Ok(applied)
    }

    pub(super) async fn host_verify(&self, place: HostPlace) -> Result<HostSeenView> {
        self.refuse_while_controlled(None).await?;
        let asked = place.clone();
        let scope = self.with_hosts(move |app| scope(app, &asked)).await?;
        let seen = self.app.verify_host(&place.host, scope, HOST_PATIENCE);
        Ok(seen.await?.into())
    }

    pub(super) async fn host_give_up(&self, place: HostPlace) -> Result<Nothing> {
        self.refuse_while_controlled(None).await?;
        self.with_hosts(move |app| {
            let scope = scope(app, &place)?;
            app.give_up_host(&place.host, &scope)
        })
        .await?;
        Ok(Nothing {})
    }

    pub(super) async fn host_program(&self, request: HostProgramRequest) -> Result<HostProgram> {
        if request.renew {
            self.refuse_while_controlled(None).await?;
        }
        let stale = self
            .with_hosts(move |app| app.stale_host_program(request.renew))
            .await?;
        if request.renew {
            self.tell_hosts("").await?;
        }
        Ok(HostProgram {
            stale: stale.map(|path| path.display().to_string()),
        })
    }

    /// Files are read and written, and hosts may be asked, outside the async threads.
    async fn with_hosts<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let app = Arc::clone(self.app);
        tokio::task::spawn_blocking(move || work(&app))
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?
    }

    /// Other windows look again.
    async fn tell_hosts(&self, host: &str) -> Result<()> {
        let told = openspace_store::NewEvent {
            topic: "hosts".to_owned(),
            key: host.to_owned(),
            kind: "hosts.changed".to_owned(),
            v: 1,
            payload: serde_json::json!({ "by": self.caller.name() }),
        };
        self.app
            .store
            .call(move |db| db.events().append(told).map(drop))
            .await?;
        Ok(())
    }
}

impl HostChangeRequest {
    fn of(self, app: &App) -> Result<(HostAction, HostRequest)> {
        let action = match self.change {
            HostChangeKind::Register => HostAction::Register,
            HostChangeKind::Unregister => HostAction::Unregister,
            HostChangeKind::Undo => HostAction::Undo,
            HostChangeKind::InstallSkills => HostAction::InstallSkills,
            HostChangeKind::RemoveSkills => HostAction::RemoveSkills,
        };
        let request = HostRequest {
            skills: self.skills,
            scope: scope(app, &self.place)?,
            host: self.place.host,
            force: self.force,
            trust: self.trust,
            create: self.create,
            dry_run: false,
        };
        Ok((action, request))
    }
}

/// The file that is meant. Any file at all could be named, and so be written into: only those are
/// taken that the host has by itself or that were written into before.
fn scope(app: &App, place: &HostPlace) -> Result<HostScope> {
    match (&place.file, &place.project) {
        (None, None) => Ok(HostScope::User),
        (None, Some(folder)) => {
            let folder = super::starts::from_home(&app.paths.home, folder);
            if folder.is_absolute() && folder.is_dir() {
                Ok(HostScope::Project(folder))
            } else {
                let message = format!("{} is not a folder", folder.display());
                let failure = Failure::new(Code::InvalidRequest, message);
                Err(failure
                    .param("reason", "no_folder")
                    .param("file", folder.display().to_string()))
            }
        }
        (Some(file), _) => {
            let file = PathBuf::from(file);
            let others = app.host_others()?;
            let known = others
                .iter()
                .any(|other| other.host == place.host && other.file == file);
            let scope = HostScope::File(file.clone());
            // What was just taken out of a file can still be put back.
            if known || app.host_undoable(&place.host, scope.clone()).is_some() {
                Ok(scope)
            } else {
                let message = format!("{} was never written into", file.display());
                Err(Failure::new(Code::InvalidRequest, message))
            }
        }
    }
}
