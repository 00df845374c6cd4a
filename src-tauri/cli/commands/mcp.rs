//! `openspace mcp`, which hosts know as `openspace-mcp`

use std::{
    io::IsTerminal as _,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use openspace_app::{
    App, Code, Environment, Failure, InstanceKind, TOKEN_FILE, give_back_start,
    hosts::{Introduction, MARK, client_connected},
};
use openspace_serve::{
    Error, Token,
    mcp::{Listen, Opening, Server, Streams, listen, serve_stdio},
};
use tokio_util::sync::CancellationToken;

use crate::{
    args::{McpArgs, Transport},
    exit::Exit,
    logging, output,
    signals::EndRequests,
};

const PORT: u16 = 8080;
/// Whoever waits for an answer when the server is told to end gets it within this time.
const FAREWELL: Duration = Duration::from_millis(300);

pub(crate) async fn mcp(arguments: McpArgs, environment: Environment) -> Result<Exit, Failure> {
    let transport = transport(&arguments, &environment, on_terminal());
    if transport == Transport::Stdio {
        return Box::pin(stdio(environment)).await;
    }
    http(&arguments, transport, environment).await
}

/// Answers the host that started us. Nothing is opened before a tool needs it: a host waits for the
/// first reply, and what is wrong with the settings is said where somebody reads it.
async fn stdio(environment: Environment) -> Result<Exit, Failure> {
    let streams = Streams::take()
        .map_err(|error| Failure::new(Code::Internal, format!("no standard streams: {error}")))?;
    logging::in_background(&environment, "mcp");
    let mut requests = end_requests()?;
    let variables = environment.clone();
    let opening = Opening::later(move || {
        let app = App::open(
            environment.clone(),
            super::surface(InstanceKind::Mcp, false, false)?,
            &[],
        );
        give_back_start();
        app
    });
    let entry = variables.text(MARK).map(str::to_owned);
    let started_by = entry.clone();
    let server = Server::telling(opening, move |client| {
        let entry = entry.clone();
        let told = client_connected(&variables, &Introduction { entry, ..client });
        // Hosts keep one of us each, all day long, and many of them call nothing.
        give_back_start();
        told
    });
    let server = server.started_by(started_by.as_deref());
    tokio::select! {
        ended = serve_stdio(&server, streams) => ended.map_err(|error| {
            Failure::new(Code::Internal, format!("the host cannot be heard: {error}"))
        })?,
        () = requests.next() => farewell(&server).await,
    }
    Ok(Exit::Done)
}

async fn http(
    arguments: &McpArgs,
    transport: Transport,
    environment: Environment,
) -> Result<Exit, Failure> {
    let ip = arguments
        .host
        .or_else(|| from_environment(&environment, "OPENSPACE_MCP_HOST"))
        .unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let port = arguments
        .port
        .or_else(|| from_environment(&environment, "OPENSPACE_MCP_PORT"))
        .unwrap_or(PORT);
    logging::in_background(&environment, "mcp");
    let app = App::open(
        environment,
        super::surface(InstanceKind::Mcp, false, false)?,
        &[],
    )?;
    app.refuse_runs("serve agents")?;
    let path = app.paths.data.join(TOKEN_FILE);
    let token = Token::kept(&path).map_err(|error| unusable(&error))?;
    let mut requests = end_requests()?;
    let server = Server::of(&app);
    let cancel = CancellationToken::new();
    let options = Listen {
        address: SocketAddr::new(ip, port),
        token,
        stateless: arguments.stateless,
    };
    let listening = listen(&server, Arc::clone(&app), options, cancel.clone())
        .await
        .map_err(|error| unusable(&error))?;
    let route = match transport {
        Transport::Sse => "sse",
        Transport::Auto | Transport::Stdio | Transport::StreamableHttp => "mcp",
    };
    let url = format!("http://{}/{route}", listening.address);
    output::note(&app.catalogue.render(
        "mcp.listening",
        &[("url", &url), ("path", &path.display().to_string())],
    ));
    requests.next().await;
    farewell(&server).await;
    cancel.cancel();
    listening.ended().await;
    Ok(Exit::Done)
}

async fn farewell(server: &Server) {
    server.close();
    tokio::time::sleep(FAREWELL).await;
}

fn end_requests() -> Result<EndRequests, Failure> {
    EndRequests::listen()
        .map_err(|error| Failure::new(Code::Internal, format!("no signals: {error}")))
}

fn on_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// The first that says something: the flag, the variable, a port, a terminal.
fn transport(arguments: &McpArgs, environment: &Environment, on_terminal: bool) -> Transport {
    const VARIABLE: &str = "OPENSPACE_MCP_TRANSPORT";
    if arguments.transport != Transport::Auto {
        return arguments.transport;
    }
    if let Some(named) = environment.text(VARIABLE) {
        match named.to_lowercase().as_str() {
            "stdio" => return Transport::Stdio,
            "sse" => return Transport::Sse,
            "streamable-http" => return Transport::StreamableHttp,
            "auto" => {}
            other => output::note(&format!(
                "openspace: `{VARIABLE}` is `{other}` and has no effect; it can be auto, stdio, sse or streamable-http"
            )),
        }
    }
    if arguments.port.is_some() || on_terminal {
        Transport::Sse
    } else {
        Transport::Stdio
    }
}

/// A variable's value where it makes sense. One that does not is told and left out, so that a host
/// with a slip in its configuration still has its server.
fn from_environment<T: std::str::FromStr>(environment: &Environment, name: &str) -> Option<T> {
    let text = environment.text(name)?;
    let value = text.trim().parse().ok();
    if value.is_none() {
        output::note(&format!(
            "openspace: `{name}` is `{text}` and has no effect"
        ));
    }
    value
}

fn unusable(error: &Error) -> Failure {
    let failure = Failure::new(Code::Unavailable, error.to_string());
    match error {
        Error::Listen { .. } => failure.hint("choose another --port, or 0 for a free one"),
        Error::NotLoopback(_) => {
            failure.hint("use --host 127.0.0.1; a tunnel such as `ssh -L` brings it elsewhere")
        }
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(flag: Transport, port: Option<u16>, variable: &str, on_terminal: bool) -> Transport {
        let arguments = McpArgs {
            transport: flag,
            host: None,
            port,
            stateless: false,
        };
        let environment = [("OPENSPACE_MCP_TRANSPORT", variable)]
            .into_iter()
            .collect();
        transport(&arguments, &environment, on_terminal)
    }

    /// Flag, then variable, then port, then terminal, then standard streams.
    #[test]
    fn the_transport_is_the_first_that_is_named() {
        use Transport::{Auto, Sse, Stdio, StreamableHttp};
        assert_eq!(chosen(StreamableHttp, None, "stdio", false), StreamableHttp);
        assert_eq!(chosen(Auto, Some(1), "STDIO", true), Stdio);
        assert_eq!(chosen(Auto, None, "Streamable-HTTP", false), StreamableHttp);
        assert_eq!(chosen(Auto, Some(1), "", false), Sse);
        assert_eq!(chosen(Auto, None, "", true), Sse);
        assert_eq!(chosen(Auto, None, "", false), Stdio);
        assert_eq!(chosen(Auto, None, "auto", false), Stdio);
        assert_eq!(chosen(Auto, None, "carrier pigeon", true), Sse);
    }

    /// A value that makes no sense is as good as none.
    #[test]
    fn nonsense_in_the_environment_is_left_out() {
        let environment: Environment = [("PORT", " 81 "), ("WORD", "x"), ("BIG", "70000")]
            .into_iter()
            .collect();
        let read = |name| from_environment::<u16>(&environment, name);
        assert_eq!(
            (read("PORT"), read("WORD"), read("BIG"), read("NONE")),
            (Some(81), None, None, None)
        );
    }
}
