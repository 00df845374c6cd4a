//! One file for each tool.

pub(crate) mod background;
mod edit_file;
mod image_file;
mod list_dir;
mod open_program;
mod read_artefact;
mod read_file;
mod run_command;
mod search;
mod write;
mod write_file;

use std::sync::Arc;

use openspace_grounding::Tool;

use crate::shell::Shared;

/// All tools of the back end, in the order they are offered.
pub(crate) fn all(shared: &Arc<Shared>) -> Vec<Arc<dyn Tool>> {
    let shared = || Arc::clone(shared);
    vec![
        Arc::new(run_command::RunCommand::new(shared())),
        Arc::new(background::CommandStatus::new(shared())),
        Arc::new(background::CommandStop::new(shared())),
        Arc::new(read_file::ReadFile::new(shared())),
        Arc::new(write_file::WriteFile::new(shared())),
        Arc::new(edit_file::EditFile::new(shared())),
        Arc::new(list_dir::ListDir::new(shared())),
        Arc::new(search::Search::new(shared())),
        Arc::new(read_artefact::ReadArtefact::new()),
        Arc::new(open_program::OpenProgram::new(shared())),
    ]
}
