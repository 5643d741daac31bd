//! The one way out of a network namespace: connections that the supervisor accepts inside it
//! are carried to one address outside, byte by byte. TLS passes through untouched.

use std::io;
use std::net::TcpStream as StdTcpStream;
use std::os::fd::OwnedFd;
use tokio::net::TcpStream;

/// Where connections are carried to: a name or an address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// As it stands in the URL, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Carries one connection until either side closes it. An endpoint that can't be reached
/// closes the connection, which is what the agent would see without a namespace.
pub async fn carry(inside: OwnedFd, destination: &Destination) -> io::Result<()> {
    let inside = StdTcpStream::from(inside);
    inside.set_nonblocking(true)?;
    let mut inside = TcpStream::from_std(inside)?;
    let mut outside = TcpStream::connect((destination.host.as_str(), destination.port)).await?;
    tokio::io::copy_bidirectional(&mut inside, &mut outside).await?;
    Ok(())
}
