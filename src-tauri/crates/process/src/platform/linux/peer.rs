//! Which process is at the other end of a loopback connection. Formats of proc(5), `/proc/net/tcp`.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
};

use super::process_table;

/// The process that holds the socket `client` of a connection to `server`, as far as it can be seen.
pub(crate) fn peer(client: SocketAddr, server: SocketAddr) -> Option<u32> {
    let (SocketAddr::V4(client), SocketAddr::V4(server)) = (client, server) else {
        return None;
    };
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    let (local, remote) = (
        written(*client.ip(), client.port()),
        written(*server.ip(), server.port()),
    );
    let inode = table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let is_it = columns.next()? == local && columns.next()? == remote;
        // State, queues, timer, retransmissions, user, timeouts, then the inode.
        is_it.then(|| columns.nth(6).map(str::to_owned)).flatten()
    })?;
    let socket = format!("socket:[{inode}]");
    process_table::pids().into_iter().find(|pid| {
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        open.into_iter()
            .flatten()
            .flatten()
            .any(|entry| fs::read_link(entry.path()).is_ok_and(|link| link.as_os_str() == &*socket))
    })
}

/// The address as the kernel prints it: the bytes in the machine's order, hexadecimal.
fn written(address: Ipv4Addr, port: u16) -> String {
    format!("{:08X}:{port:04X}", u32::from_ne_bytes(address.octets()))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// The process at the other end is found, and nobody where there is no connection.
    #[test]
    fn the_other_end_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = listener.local_addr().expect("its address");
        let stream = TcpStream::connect(server).expect("a connection");
        let (accepted, client) = listener.accept().expect("the same");
        assert_eq!(peer(client, server), Some(std::process::id()));
        assert_eq!(peer(SocketAddr::from(([127, 0, 0, 1], 1)), server), None);
        drop((stream, accepted));
    }
}
