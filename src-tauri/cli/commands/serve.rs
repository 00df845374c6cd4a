//! `openspace serve`

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

use openspace_app::{App, Code, Environment, Failure, GuardSeat, InstanceKind, rpc::Rpc};
use openspace_serve::{Error, Options, Pages, Token, listen};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{args::ServeArgs, exit::Exit, logging, output, signals::EndRequests};

/// Name of the file that holds the token, in the data folder.
const TOKEN: &str = "ui-token";

pub(crate) async fn serve(arguments: ServeArgs, environment: Environment) -> Result<Exit, Failure> {
    let app = App::open(
        environment,
        super::surface(InstanceKind::Serve, false, false)?,
        &[],
    )?;
    logging::to_stderr(&app.values().log.level)?;
    app.refuse_runs("serve windows")?;
    super::adopt_orphans();
    let pages = Pages::find(arguments.ui.as_deref()).map_err(|error| unusable(&error))?;
    let token = Token::kept(&token_path(&app)).map_err(|error| unusable(&error))?;
    let mut requests = EndRequests::listen()
        .map_err(|error| Failure::new(Code::Internal, format!("no signals: {error}")))?;
    let cancel = CancellationToken::new();
    let options = Options {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port)),
        token: token.clone(),
        pages,
        rpc: Rpc::new(Arc::clone(&app), Arc::new(GuardSeat::default())),
    };
    let listening = listen(options, cancel.clone())
        .await
        .map_err(|error| unusable(&error))?;
    let url = listening.url(&token);
    if arguments.json {
        output::json(&json!({ "url": url, "port": listening.address.port() }));
    } else {
        output::line(&url);
        output::note(&app.catalogue.render("serve.hint", &[]));
    }
    if arguments.open {
        open_in_browser(&url)?;
    }
    requests.next().await;
    cancel.cancel();
    listening.ended().await;
    Ok(Exit::Done)
}

fn token_path(app: &App) -> PathBuf {
    app.paths.data.join(TOKEN)
}

fn unusable(error: &Error) -> Failure {
    let failure = Failure::new(Code::Unavailable, error.to_string());
    match error {
        Error::NotEmbedded => {
            failure.hint("build them with `npm run build` in `ui`, then give --ui ui/dist")
        }
        Error::NoPages(_) => failure.hint("build them with `npm run build` in `ui`"),
        Error::Listen { .. } => failure.hint("choose another --port, or none for a free one"),
        _ => failure,
    }
}

/// Hands the address to the person's browser.
fn open_in_browser(url: &str) -> Result<(), Failure> {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    std::process::Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .map(drop)
        .map_err(|error| {
            Failure::new(
                Code::Unavailable,
                format!("`{program}` cannot open the address: {error}"),
            )
            .hint("copy it into your browser")
        })
}
