//! The engine's end of the socket to a supervisor: frames in both directions, with file
//! descriptors.

use crate::supervisor::protocol::{self, Reply, Request};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::Mutex;

/// The three streams of a program, or a control group for each controller.
pub const MOST_DESCRIPTORS: usize = 3;

/// Sends requests.
pub struct RequestSender {
    socket: Arc<UnixStream>,
    turn: Mutex<()>,
}

/// Receives replies.
pub struct ReplyReceiver {
    socket: Arc<UnixStream>,
    buffer: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
}

/// Both ends of one connected socket.
///
/// # Errors
///
/// What the system says.
pub fn link(socket: std::os::unix::net::UnixStream) -> io::Result<(RequestSender, ReplyReceiver)> {
    socket.set_nonblocking(true)?;
    let socket = Arc::new(UnixStream::from_std(socket)?);
    let sender = RequestSender {
        socket: Arc::clone(&socket),
        turn: Mutex::new(()),
    };
    let receiver = ReplyReceiver {
        socket,
        buffer: Vec::new(),
        descriptors: VecDeque::new(),
    };
    Ok((sender, receiver))
}

impl RequestSender {
    /// Sends a request, with the file descriptors that belong to it: at most
    /// [`MOST_DESCRIPTORS`].
    ///
    /// # Errors
    ///
    /// If the supervisor is gone, or the request is too long.
    pub async fn send(&self, request: &Request, descriptors: &[OwnedFd]) -> io::Result<()> {
        let frame = protocol::encode(request)?;
        let _turn = self.turn.lock().await;
        let mut sent = 0;
        while sent < frame.len() {
            self.socket.writable().await?;
            let attempt = self.socket.try_io(Interest::WRITABLE, || {
                let mut space =
                    [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
                let mut ancillary = SendAncillaryBuffer::new(&mut space);
                let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
                if sent == 0
                    && !borrowed.is_empty()
                    && !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed))
                {
                    return Err(io::Error::other("no room for that many file descriptors"));
                }
                let bytes = [IoSlice::new(&frame[sent..])];
                Ok(sendmsg(
                    &*self.socket,
                    &bytes,
                    &mut ancillary,
                    SendFlags::NOSIGNAL,
                )?)
            });
            match attempt {
                Ok(written) => sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Tells the supervisor that nobody wants anything any more: it ends everything.
    pub fn hang_up(&self) {
        // Already closed is as good.
        let _ = rustix::net::shutdown(&*self.socket, rustix::net::Shutdown::Both);
    }
}

impl ReplyReceiver {
    /// The next reply; `None` once the supervisor is gone.
    ///
    /// # Errors
    ///
    /// If what arrives is no reply, or the socket breaks.
    pub async fn next(&mut self) -> io::Result<Option<Reply>> {
        loop {
            if let Some(reply) = protocol::decode(&mut self.buffer)? {
                return Ok(Some(reply));
            }
            self.socket.readable().await?;
            let socket = Arc::clone(&self.socket);
            match socket.try_io(Interest::READABLE, || self.receive()) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.raw_os_error() == Some(Errno::CONNRESET.raw_os_error()) => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The file descriptor that came with the last [`Reply::Connection`].
    pub fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    fn receive(&mut self) -> io::Result<usize> {
        let mut chunk = [0; 16 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(16))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &*self.socket,
            &mut [IoSliceMut::new(&mut chunk)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.buffer.extend_from_slice(&chunk[..received.bytes]);
        Ok(received.bytes)
    }
}
