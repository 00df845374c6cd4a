//! Why nothing can be served.

use std::{net::SocketAddr, path::PathBuf};

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The port is taken or may not be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// An address that others could reach.
    #[error("`{0}` can be reached from other machines; only loopback addresses are served")]
    NotLoopback(SocketAddr),
    /// The file with the token cannot be used.
    #[error("cannot use the token in `{}`: {source}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// There are no pages to show.
    #[error("there are no pages in `{}`", .0.display())]
    NoPages(PathBuf),
    /// This build carries no pages and was given none.
    #[error("this build carries no pages")]
    NotEmbedded,
}
