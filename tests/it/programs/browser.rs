//! A browser with a form, served from the loopback.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::Duration,
};

use openspace_testkit::Options;

use super::{click_text, report_line_with, stages, type_now};
use crate::rig::Rig;

const NAME: &str = "Łukasz Ångström";
const WISH: &str = "北京烤鸭, 2 × “crème brûlée” & 100%";

const PAGE: &str = r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>Order</title>
<style>* { font: 26px "DejaVu Sans", sans-serif; } input { width: 700px; } label { display: block; margin: 18px 0 4px; }
button { margin-top: 30px; padding: 14px 40px; } [type=checkbox] { width: 26px; height: 26px; }</style>
<h1>Order a dinner</h1><form method="post" accept-charset="utf-8">
<label for="n">Customer</label><input id="n" name="name" autocomplete="off">
<label for="w">Dishes</label><input id="w" name="wish" autocomplete="off">
<label><input type="checkbox" name="hot" value="yes"> Extra spicy</label>
<button>Send order</button></form>"#;
const THANKS: &str = r#"<!doctype html><meta charset="utf-8"><title>Thanks</title>
<p style="font: 30px 'DejaVu Sans'">Received under number 7731</p>"#;

/// Serves the form and hands over what is sent with it.
fn serve() -> (String, mpsc::Receiver<BTreeMap<String, String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("its address"));
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || answer(stream, &sender));
        }
    });
    (address, received)
}

fn answer(mut stream: TcpStream, sender: &mpsc::Sender<BTreeMap<String, String>>) -> Option<()> {
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .ok()?;
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let (head, body) = loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse()
                    .ok()
            })
            .unwrap_or(0_usize);
        if body.len() >= length {
            break (head.to_owned(), body.to_owned());
        }
    };
    let page = if head.starts_with("POST ") {
        sender.send(fields(&body)).ok()?;
        THANKS
    } else {
        PAGE
    };
    let reply = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    stream.write_all(reply.as_bytes()).ok()
}

/// `application/x-www-form-urlencoded`
fn fields(body: &str) -> BTreeMap<String, String> {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let [first, tail @ ..] = rest {
            let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
            match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(byte) if *first == b'%' => {
                    bytes.push(byte);
                    rest = &tail[2..];
                }
                _ => {
                    bytes.push(*first);
                    rest = tail;
                }
            }
        }
        String::from_utf8(bytes).expect("UTF-8")
    };
    body.split('&')
        .filter_map(|field| field.split_once('='))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

/// A form on a page is found, filled in with letters of several scripts and sent by clicks, and the
/// server receives exactly that.
#[test]
fn chromium_form_is_filled_in_and_sent() {
    let (address, received) = serve();
    let rig = Rig::with_screen(
        Options::sized(1280, 800),
        stages(vec![
            click_text("Customer"),
            type_now(NAME),
            click_text("Dishes"),
            type_now(WISH),
            click_text("Extra spicy"),
            click_text("Send order"),
            report_line_with("7731"),
        ]),
    );
    let profile = rig.home.root().join("profile");
    let profile = format!("--user-data-dir={}", profile.display());
    let browser = rig
        .screen()
        .run(
            "/usr/bin/chromium",
            &[
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--no-default-browser-check",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-features=Translate,MediaRouter",
                "--password-store=basic",
                "--lang=en",
                "--start-maximized",
                &profile,
                &address,
            ],
        )
        .expect("chromium starts");
    let output = rig.run("Order the dinner", &["--allow", "gui:chromium"]);
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    assert!(output.stdout.contains("7731"), "{output:?}");
    let sent = received
        .recv_timeout(Duration::from_secs(20))
        .expect("the form is sent");
    let wanted = [("name", NAME), ("wish", WISH), ("hot", "yes")];
    let wanted: BTreeMap<_, _> = wanted
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    assert_eq!(sent, wanted);
    drop(browser);
    rig.finish();
}
