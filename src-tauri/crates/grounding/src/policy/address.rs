//! Addresses: which are public, and what a URL points at.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Names that cloud providers give the service that hands out the machine's credentials.
const METADATA: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "instance-data",
];
/// Endings that never leave the local network (RFC 6761, 6762, 8375, 9476 and custom).
const LOCAL_ENDINGS: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "home.arpa",
    "localdomain",
    "test",
    "invalid",
    "onion",
    "in-addr.arpa",
    "ip6.arpa",
];

/// What a URL leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A public host, lower case. What it resolves to is checked again with [`is_public`].
    Public(String),
    /// This machine: `localhost` or a loopback address, as it was written.
    Loopback(String),
    /// A machine that is not on the public internet.
    Private(String),
    /// The service that hands out this machine's cloud credentials.
    Metadata(String),
    /// A file of this machine.
    File(std::path::PathBuf),
    /// `about:blank` and nothing else: shows nothing, reaches nothing.
    Blank,
    /// Anything else, with its scheme.
    Other(String),
}

/// The address belongs to the public internet. Called on every address a name resolves to, right
/// before connecting, so that a name cannot be pointed at the local network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(embedded) => is_public_v4(embedded),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // IANA IPv4 special-purpose registry, all blocks that are not globally reachable.
    !(a == 0
        || a == 10
        || a == 127
        || (a == 100 && (64..128).contains(&b))
        || (a == 169 && b == 254)
        || (a == 172 && (16..32).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 0 && c == 2)
        || (a == 192 && b == 88 && c == 99)
        || (a == 192 && b == 168)
        || (a == 198 && (b == 18 || b == 19))
        || (a == 198 && b == 51 && c == 100)
        || (a == 203 && b == 0 && c == 113)
        || a >= 224
        // Azure's platform address: public by number, the machine's own by meaning.
        || address == Ipv4Addr::new(168, 63, 129, 16))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // Only 2000::/3 is handed out; within it, documentation and protocol blocks are not reachable.
    (segments[0] & 0xe000) == 0x2000
        && !(segments[0] == 0x2001 && segments[1] < 0x0200)
        && !(segments[0] == 0x2001 && segments[1] == 0x0db8)
        && segments[0] != 0x3fff
}

/// IPv4 inside IPv6: mapped, compatible, NAT64 and 6to4 reach the IPv4 address.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let tail = || Ipv4Addr::from((u32::from(s[6]) << 16) | u32::from(s[7]));
    if s[..5] == [0, 0, 0, 0, 0] && (s[5] == 0xffff || (s[5] == 0 && (s[6] != 0 || s[7] > 1))) {
        return Some(tail());
    }
    if s[..4] == [0, 0, 0, 0] && s[4] == 0xffff && s[5] == 0 {
        return Some(tail());
    }
    if s[0] == 0x64 && s[1] == 0xff9b {
        return Some(tail());
    }
    if s[0] == 0x2002 {
        return Some(Ipv4Addr::from((u32::from(s[1]) << 16) | u32::from(s[2])));
    }
    None
}

/// Reads an address and says where it leads. `None` when it cannot be read.
pub fn destination(address: &str) -> Option<Destination> {
    let url = Url::parse(address.trim()).ok()?;
    Some(match url.scheme() {
        "http" | "https" | "ws" | "wss" | "ftp" => match url.host()? {
            Host::Domain(name) => host(name),
            Host::Ipv4(ip) => numeric(IpAddr::V4(ip), ip.to_string()),
            Host::Ipv6(ip) => numeric(IpAddr::V6(ip), ip.to_string()),
        },
        "file" => match url.to_file_path() {
            Ok(path) => Destination::File(path),
            Err(()) => Destination::Other("file".to_owned()),
        },
        "about" if url.path() == "blank" => Destination::Blank,
        scheme => Destination::Other(scheme.to_owned()),
    })
}

/// The same for a bare host, in any of the forms programs accept (`2130706433`, `0x7f.1`).
pub fn host(name: &str) -> Destination {
    let name = name
        .trim_matches(['[', ']'])
        .trim_end_matches('.')
        .to_lowercase();
    if let Ok(ip) = name.parse::<IpAddr>() {
        return numeric(ip, name);
    }
    // The URL parser knows decimal, octal and hexadecimal spellings of IPv4.
    if let Ok(url) = Url::parse(&format!("http://{name}/"))
        && let Some(Host::Ipv4(ip)) = url.host()
    {
        return numeric(IpAddr::V4(ip), ip.to_string());
    }
    if METADATA.contains(&name.as_str()) {
        return Destination::Metadata(name);
    }
    if name == "localhost" || name.ends_with(".localhost") {
        return Destination::Loopback(name);
    }
    // A name without a dot is resolved by the local network.
    let local = !name.contains('.')
        || LOCAL_ENDINGS.iter().any(|ending| {
            name.strip_suffix(ending)
                .is_some_and(|rest| rest.ends_with('.'))
        });
    if local {
        Destination::Private(name)
    } else {
        Destination::Public(name)
    }
}

fn numeric(address: IpAddr, name: String) -> Destination {
    let v4 = match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(address) => embedded_v4(address),
    };
    let metadata = v4.is_some_and(|address| {
        address == Ipv4Addr::new(169, 254, 169, 254)
            || address == Ipv4Addr::new(169, 254, 170, 2)
            || address == Ipv4Addr::new(100, 100, 100, 200)
            || address == Ipv4Addr::new(168, 63, 129, 16)
    }) || address == IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254));
    if metadata {
        Destination::Metadata(name)
    } else if address.is_loopback() || v4.is_some_and(|address| address.is_loopback()) {
        Destination::Loopback(name)
    } else if is_public(address) {
        Destination::Public(name)
    } else {
        Destination::Private(name)
    }
}
