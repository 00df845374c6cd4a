//! Taking a run away as a folder.

use super::{Call, payload, runs::RunRequestById, starts::from_home};
use crate::{export::ExportFile, failure::Result};

payload! {
    /// What an export would hold.
    pub struct ExportPreview {
        /// File by file.
        pub files: Vec<ExportedFile>,
        /// Secrets that would be blacked out.
        pub redacted: u32,
        /// Bytes in all.
        #[cfg_attr(test, ts(type = "number"))]
        pub bytes: u64,
        /// A folder that does not exist yet.
        pub folder: String,
    }

    /// A file of an export.
    pub struct ExportedFile {
        /// Below the export's folder.
        pub path: String,
        /// Its size.
        #[cfg_attr(test, ts(type = "number"))]
        pub bytes: u64,
        /// Secrets blacked out in it.
        pub redacted: u32,
    }

    /// Writes an export.
    pub struct RunExportRequest {
        /// The run.
        pub run: String,
        /// A folder that does not exist yet.
        pub folder: String,
    }

    /// What was written.
    pub struct RunExported {
        /// Where.
        pub folder: String,
        /// How many files.
        pub files: u32,
    }
}

impl ExportPreview {
    pub(super) fn of(files: &[ExportFile], folder: String) -> Self {
        let files: Vec<_> = files
            .iter()
            .map(|file| ExportedFile {
                path: file.path.display().to_string(),
                bytes: file.bytes(),
                redacted: u32::try_from(file.redacted).unwrap_or(u32::MAX),
            })
            .collect();
        Self {
            redacted: files.iter().map(|file| file.redacted).sum(),
            bytes: files.iter().map(|file| file.bytes).sum(),
            files,
            folder,
        }
    }
}

impl Call<'_> {
    pub(super) async fn run_export_preview(
        &self,
        request: RunRequestById,
    ) -> Result<ExportPreview> {
        let run = self.app.find_run(&request.run).await?;
        let files = self.app.export_files(&run).await?;
        let folder = self
            .app
            .paths
            .home
            .join(format!("openspace-run-{}", run.id));
        Ok(ExportPreview::of(&files, folder.display().to_string()))
    }

    pub(super) async fn run_export(&self, request: RunExportRequest) -> Result<RunExported> {
        self.app.refuse_runs("export runs")?;
        let run = self.app.find_run(&request.run).await?;
        let folder = from_home(&self.app.paths.home, &request.folder);
        let files = self.app.export_files(&run).await?;
        let count = files.len();
        self.app
            .write_files(files, &folder, &["frames", "artefacts"])
            .await?;
        Ok(RunExported {
            folder: folder.display().to_string(),
            files: u32::try_from(count).unwrap_or(u32::MAX),
        })
    }
}
