//! `open_program`: a program with a window, on the screen the run works on.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use openspace_grounding::{
    Action, CallContext, Effect, Evidence, Folders, Output, Permit, ProgramLaunch, ScreenApp, Tool,
    ToolError, ToolSpec,
};
use openspace_process::{Command, Environment, Exit};
use serde::Deserialize;
use serde_json::{Value, json};

use super::run_command::describe;
use crate::{
    arguments,
    complaints::Complaints,
    desktop::{Places, Program},
    processes::Kind,
    render,
    running::Running,
    shell::{Shared, check_may_act},
};

/// How long a program is watched for an early end: what cannot start says so within this time.
const EARLY: Duration = Duration::from_millis(1200);
/// How long its complaint may come after it has ended.
const LATE: Duration = Duration::from_millis(250);
/// Characters of its complaint that are shown.
const COMPLAINT: usize = 4096;
/// Where Windows keeps the shortcuts of its menu, in the person's folder and in everybody's.
const START_MENU: &str = "Microsoft/Windows/Start Menu/Programs";

pub(crate) struct OpenProgram {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    program: String,
    #[serde(default)]
    arguments: Vec<String>,
}

impl OpenProgram {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "open_program",
            include_str!("../../prompts/open_program.md"),
            Effect::Destructive,
            &["program"],
            &json!({
                "program": {"type": "string", "description": "Name or path."},
                "arguments": {"type": "array", "items": {"type": "string"}, "description": "Files, addresses, options."},
            }),
        );
        Self { spec, shared }
    }

    fn plan(&self, arguments: &Value, context: &CallContext) -> Result<ProgramLaunch, ToolError> {
        let Arguments { program, arguments } = arguments::parse(arguments)?;
        if program.is_empty()
            || program.contains('\0')
            || arguments.iter().any(|a| a.contains('\0'))
        {
            return Err(ToolError::InvalidArguments(
                "the program is empty, or something contains a NUL character".into(),
            ));
        }
        let wanted = if program.contains('/') || program.starts_with('~') {
            self.shared
                .resolve(&program, &context.folders)?
                .display()
                .to_string()
        } else {
            program.clone()
        };
        let found = self
            .places(&context.folders)
            .find(&wanted)
            .ok_or_else(|| ToolError::NotFound(format!("no program `{program}` is installed")))?;
        Ok(launch(found, arguments))
    }

    fn places(&self, folders: &Folders) -> Places {
        let options = &self.shared.options;
        let variable = |name: &str| options.environment.get(std::ffi::OsStr::new(name));
        let path = variable("PATH").map_or_else(
            || vec![PathBuf::from("/usr/local/bin"), PathBuf::from("/usr/bin")],
            |path| std::env::split_paths(path).collect(),
        );
        let mut data = vec![
            variable("XDG_DATA_HOME")
                .map_or_else(|| options.home.join(".local/share"), PathBuf::from),
        ];
        match variable("XDG_DATA_DIRS").filter(|dirs| !dirs.is_empty()) {
            Some(dirs) => data.extend(std::env::split_paths(dirs)),
            None => data.extend(["/usr/local/share", "/usr/share"].map(PathBuf::from)),
        }
        // Flatpak's and snapd's entries are only in the list when the session added them.
        data.extend(
            ["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"].map(PathBuf::from),
        );
        let start_menu = ["APPDATA", "ProgramData"]
            .iter()
            .filter_map(|name| variable(name))
            .map(|folder| PathBuf::from(folder).join(START_MENU))
            .collect();
        let mut writable = folders.allowed.clone();
        writable.extend([folders.workspace.clone(), folders.scratch.clone()]);
        Places {
            path,
            data,
            start_menu,
            writable,
            windows: options.windows.clone(),
        }
    }
}

fn launch(program: Program, given: Vec<String>) -> ProgramLaunch {
    let own = program.name.starts_with("openspace");
    let mut arguments = program.arguments;
    arguments.extend(given);
    ProgramLaunch {
        program: program.path,
        arguments,
        app: ScreenApp {
            name: program.name,
            title: String::new(),
            terminal: program.terminal,
            own,
        },
        graphical: program.graphical,
    }
}

#[async_trait]
impl Tool for OpenProgram {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        let actions = vec![Action::Launch(self.plan(arguments, context)?)];
        self.shared.remember(context, &actions);
        Ok(actions)
    }

    async fn call(
        &self,
        arguments: Value,
        _permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let launch = self.plan(&arguments, context)?;
        let action = Action::Launch(launch.clone());
        self.shared.confirm(context, &[action]).await?;
        let variables = &self.shared.options.environment;
        let environment = Environment::allowed(variables.clone()).with_desktop(variables.clone());
        let mut command = Command::new(
            launch.program.as_os_str(),
            &context.folders.workspace,
            context.run.as_str(),
            environment,
        );
        command.arguments = launch.arguments.iter().map(Into::into).collect();
        let (mut complaints, errors) = Complaints::take(&context.folders.scratch)
            .map_err(|error| ToolError::Failed(format!("no pipe for a program: {error}")))?;
        command.errors = Some(Arc::new(errors));
        if self.shared.processes.is_closed() {
            return Err(ToolError::Cancelled);
        }
        check_may_act(context)?;
        let running = Running::start(command.spawn().map_err(|error| describe(&error))?);
        // The end of the pipe is seen only when nobody else can write to it.
        drop(command);
        self.shared
            .processes
            .add(&running.tree, Kind::Program, &context.keep)
            .await?;
        tokio::select! {
            () = context.cancel.cancelled() => {
                running.stop().await;
                self.shared.processes.remove(&running.tree).await;
                return Err(ToolError::Cancelled);
            }
            _ = tokio::time::timeout(EARLY, running.wait()) => {}
            never = complaints.listen() => match never {},
        }
        if running.exit().is_some() {
            let _late = tokio::time::timeout(LATE, complaints.rest()).await;
        }
        let complaint = render::clean(complaints.beginning());
        // What it left in the background may complain for as long as it lives.
        if let Err(error) = complaints.leave() {
            tracing::warn!(%error, "leaving a program with nobody to hear its complaints");
        }
        let name = &launch.app.name;
        let line = format!(
            "{} {}",
            launch.program.display(),
            launch.arguments.join(" ")
        );
        let text = match running.exit() {
            None => {
                let text = format!(
                    "Opened {name} (process {}). It may take a moment to appear on the screen.",
                    running.tree.root()
                );
                running.release().await;
                return Ok(Output::text(text));
            }
            Some(Exit::Code(0)) => format!(
                "{name} ended at once without an error: it probably handed over to a program \
                 that was already open. Look at the screen."
            ),
            Some(exit) => {
                let complaint: String = complaint.chars().take(COMPLAINT).collect();
                let how = match exit {
                    Exit::Code(code) => format!("exit code {code}"),
                    Exit::Signal(signal) => format!("signal {signal}"),
                };
                format!("{name} ended at once ({how}): {}", complaint.trim())
            }
        };
        let exit = running.exit();
        Ok(Output {
            is_error: exit.is_some_and(|exit| !exit.success()),
            evidence: vec![Evidence::Command {
                line: line.chars().take(200).collect(),
                code: exit.and_then(Exit::code),
                output: None,
            }],
            ..Output::text(text)
        })
    }
}
