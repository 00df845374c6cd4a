use axum::{Router, routing::get};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    double::open,
    http::{answer, bind},
};

/// Names the addresses between which [`ask_once`] asks.
const BETWEEN: &str = "OPENSPACE_TEST_BETWEEN";

async fn connect(from: SocketAddr, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseaddr(true).expect("set");
    socket.bind(from).expect("bound");
    let stream = socket.connect(server).await.expect("connected");
    // Its end leaves nothing behind: the address is free at once.
    stream.set_zero_linger().expect("set");
    stream
}

/// An answer, which comes in one piece.
async fn ask(stream: &mut TcpStream, server: SocketAddr) -> String {
    let request = format!("GET / HTTP/1.1\r\nhost: {server}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("asked");
    let mut answer = vec![0; 4096];
    let length = stream.read(&mut answer).await.expect("answered");
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

/// Run by the test below, as what a run started.
#[tokio::test]
#[ignore = "answers to another test"]
async fn ask_once() {
    let between = std::env::var(BETWEEN).expect("told");
    let (from, server) = between.split_once(' ').expect("two addresses");
    let (from, server) = (from.parse().expect("ours"), server.parse().expect("its"));
    println!("{}", ask(&mut connect(from, server).await, server).await);
}

/// What is known of a connection ends with it: whoever has its address later is looked at as well.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_no_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (listener, server) = bind(any).await.expect("a port");
    let guard = Guard::of_agents(server, None, open(folder.path()));
    let router = Router::new().route("/", get(|| async { "in" }));
    let cancel = CancellationToken::new();
    let listening = answer(listener, server, router, guard, cancel.clone());

    let mut stream = connect(any, server).await;
    let from = stream.local_addr().expect("its address");
    for _ in 0..2 {
        let answer = ask(&mut stream, server).await;
        assert!(answer.contains(" 200 "), "no run's: {answer}");
    }
    drop(stream);
    let asked = tokio::process::Command::new(std::env::current_exe().expect("this test"))
        .args([
            "--ignored",
            "--exact",
            "guard::tests::ask_once",
            "--nocapture",
        ])
        .env(BETWEEN, format!("{from} {server}"))
        .output()
        .await
        .expect("it ran");
    let told = String::from_utf8_lossy(&asked.stdout);
    assert!(told.contains(" 403 "), "{told}");
    let way_out = "close it and start it yourself";
    assert!(told.contains(way_out), "it may be the person's: {told}");
    cancel.cancel();
    listening.ended().await;
}
