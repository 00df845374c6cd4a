//! What reaches other machines, and which.

use super::plain;
use crate::policy::{
    address::{Destination, destination},
    command::{
        NetworkUse,
        programs::{NETWORK, NETWORK_WITH},
        walk::Walk,
        words::Value,
    },
};

impl Walk<'_> {
    pub(super) fn network(&mut self, name: &str, arguments: &[Value]) {
        let words = plain(
            arguments,
            &["-C", "-c", "--prefix", "--cwd", "-F", "--filter"],
        );
        let first = words.first().map_or("", |word| word.text.as_str());
        let reaches = NETWORK.contains(&name)
            || NETWORK_WITH
                .iter()
                .any(|(program, with)| *program == name && with.contains(&first))
            || (name.starts_with("python")
                && arguments.windows(2).any(|pair| {
                    pair[0].text == "-m"
                        && matches!(
                            pair[1].text.as_str(),
                            "pip" | "http.server" | "ensurepip" | "smtpd" | "twine" | "pipx"
                        )
                }))
            || (name == "rsync" && words.iter().any(|word| word.text.contains(':')));
        let local = match name {
            "git" => {
                matches!(first, "remote")
                    && !words
                        .iter()
                        .any(|word| matches!(word.text.as_str(), "update" | "show" | "prune"))
            }
            "go" => {
                first == "mod"
                    && words
                        .get(1)
                        .is_none_or(|word| word.text != "download" && word.text != "tidy")
            }
            "cargo" => arguments.iter().any(|word| word.text == "--offline"),
            _ => false,
        } || (arguments.len() == 1
            && matches!(
                arguments[0].text.as_str(),
                "--version" | "-V" | "--help" | "-h" | "version" | "help"
            ));
        if !reaches || local {
            return;
        }
        let takes_addresses = matches!(
            name,
            "curl"
                | "wget"
                | "wget2"
                | "git"
                | "ssh"
                | "scp"
                | "sftp"
                | "rsync"
                | "http"
                | "https"
                | "xh"
                | "ping"
                | "ping6"
                | "dig"
                | "host"
                | "nslookup"
                | "aria2c"
                | "yt-dlp"
                | "telnet"
                | "nc"
                | "ncat"
                | "netcat"
        );
        let valued: &[&str] = match name {
            "curl" => &[
                "-X",
                "-H",
                "-d",
                "-o",
                "-A",
                "-e",
                "-u",
                "-b",
                "-c",
                "-F",
                "-T",
                "-m",
                "-w",
                "--request",
                "--header",
                "--data",
                "--data-raw",
                "--data-binary",
                "--output",
                "--user-agent",
                "--max-time",
                "--retry",
                "--cacert",
                "--connect-timeout",
                "--json",
                "--form",
            ],
            "wget" => &[
                "-O",
                "-o",
                "-P",
                "-U",
                "-t",
                "-T",
                "--header",
                "--post-data",
            ],
            "ssh" | "scp" | "sftp" => &[
                "-i", "-p", "-P", "-o", "-l", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-S",
                "-W",
            ],
            _ => &[
                "-c", "-w", "-W", "-t", "-p", "-b", "-o", "--branch", "--depth",
            ],
        };
        let words = plain(arguments, valued);
        let mut hosts = Vec::new();
        let mut complete = takes_addresses;
        for word in &words {
            if word.certain().is_none() {
                complete = false;
            }
            if let Some(host) = host_in(&word.text, name) {
                hosts.push(host);
            }
        }
        // These send the request elsewhere than the address says, or follow to anywhere.
        complete &= !arguments.iter().any(|word| {
            [
                "-x",
                "--proxy",
                "--preproxy",
                "--resolve",
                "--connect-to",
                "-K",
                "--config",
                "-J",
                "-o",
                "-L",
                "--location",
                "-i",
                "--input-file",
                "-r",
                "-F",
                "--socks",
            ]
            .iter()
            .any(|option| {
                word.text == *option || (option.len() > 2 && word.text.starts_with(option))
            }) && !(word.text == "-o" && name == "curl")
                && !(matches!(word.text.as_str(), "-i" | "-r" | "-F") && name == "curl")
        });
        complete &= !arguments.iter().any(|word| {
            word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word.text.contains('L')
                && name == "curl"
        });
        complete &= !hosts.is_empty();
        self.facts.network.push(NetworkUse {
            program: name.to_owned(),
            hosts,
            complete,
        });
    }
}

/// The host of an address, of `user@host:path`, or of a bare host where a program takes one.
fn host_in(text: &str, program: &str) -> Option<String> {
    if let Some((scheme, rest)) = text.split_once("://") {
        if let Some(
            Destination::Public(host)
            | Destination::Private(host)
            | Destination::Loopback(host)
            | Destination::Metadata(host),
        ) = destination(text)
        {
            return Some(host);
        }
        if scheme == "file" {
            return None;
        }
        let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
        return Some(
            host.rsplit_once(':')
                .map_or(host, |(host, _)| host)
                .to_lowercase(),
        );
    }
    let bare = |text: &str| {
        let host = text.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default();
        let fits = !host.is_empty()
            && host
                .chars()
                .all(|letter| letter.is_alphanumeric() || "-._".contains(letter));
        fits.then(|| host.to_lowercase())
    };
    match program {
        "curl" | "wget" | "wget2" | "http" | "xh" | "ssh" | "sftp" | "telnet" | "nc" | "ncat"
        | "netcat" | "ping" | "ping6" | "host" | "dig" | "nslookup" => bare(text).filter(|host| {
            host.contains('.')
                || host == "localhost"
                || text.contains(['@', ':'])
                || program != "curl"
        }),
        "scp" | "rsync" | "git" if text.contains(':') && !text.starts_with(['/', '.', ':']) => {
            bare(text.split(':').next().unwrap_or_default())
        }
        _ => None,
    }
}
