//! The pages: from a folder, or carried inside the program.

use std::path::{Component, Path, PathBuf};

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::Error;

/// Where the pages come from.
#[derive(Debug, Clone)]
pub enum Pages {
    /// A folder with an `index.html`.
    Folder(PathBuf),
    /// The program itself.
    #[cfg(feature = "embedded")]
    Embedded,
}

#[cfg(feature = "embedded")]
#[derive(rust_embed::Embed)]
#[folder = "../../../ui/dist"]
struct Carried;

impl Pages {
    /// The pages of a folder, or else those this build carries.
    pub fn find(folder: Option<&Path>) -> Result<Self, Error> {
        match folder {
            Some(folder) if folder.join("index.html").is_file() => {
                Ok(Self::Folder(folder.to_owned()))
            }
            Some(folder) => Err(Error::NoPages(folder.to_owned())),
            #[cfg(feature = "embedded")]
            None => Ok(Self::Embedded),
            #[cfg(not(feature = "embedded"))]
            None => Err(Error::NotEmbedded),
        }
    }

    pub(crate) async fn answer(&self, path: &str) -> Response {
        let path = match path.trim_start_matches('/') {
            "" => "index.html",
            path => path,
        };
        let plain = Path::new(path)
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        if !plain || path.contains('\\') {
            return StatusCode::NOT_FOUND.into_response();
        }
        let data = match self {
            Self::Folder(folder) => match tokio::fs::read(folder.join(path)).await {
                Ok(data) => data,
                Err(_) => return StatusCode::NOT_FOUND.into_response(),
            },
            #[cfg(feature = "embedded")]
            Self::Embedded => match Carried::get(path) {
                Some(file) => file.data.into_owned(),
                None => return StatusCode::NOT_FOUND.into_response(),
            },
        };
        // Names under assets/ carry a hash of their content.
        let keep = if path.starts_with("assets/") {
            "private, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        (
            [
                (header::CONTENT_TYPE, media_type(path)),
                (header::CACHE_CONTROL, keep),
            ],
            data,
        )
            .into_response()
    }
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
