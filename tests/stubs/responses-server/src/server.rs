//! The server: connections, threads, and what was asked.

use crate::cursor::Cursor;
use crate::http;
use crate::play;
use crate::record::RecordedRequest;
use crate::reply::Reply;
use crate::script::Script;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How a server is started.
#[derive(Debug, Default)]
pub struct Options {
    /// The port on 127.0.0.1; 0: a free one.
    pub port: u16,
    /// Where to write each request as a line of JSON ([`RecordedRequest`]); `None`: nowhere.
    pub log: Option<File>,
}

/// A running server, on 127.0.0.1 only. Dropping it closes every connection and ends its
/// threads.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Notified at every request and when the server stops.
    changed: Condvar,
    started: Instant,
}

#[derive(Debug)]
struct State {
    cursor: Cursor,
    requests: Vec<RecordedRequest>,
    /// How many of `requests` were for the model.
    for_the_model: usize,
    log: Option<File>,
    /// Open connections, to be shut down when the server is dropped.
    open: BTreeMap<u64, TcpStream>,
    stopping: bool,
}

impl Shared {
    // A thread that panicked leaves counts and lists behind that are still true.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Starts a server on a free port.
    ///
    /// # Errors
    ///
    /// The port or the thread could not be had.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_with(script, Options::default())
    }

    /// Starts a server.
    ///
    /// # Errors
    ///
    /// The port or the thread could not be had.
    pub fn start_with(script: Script, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                cursor: Cursor::new(script),
                requests: Vec::new(),
                for_the_model: 0,
                log: options.log,
                open: BTreeMap::new(),
                stopping: false,
            }),
            changed: Condvar::new(),
            started: Instant::now(),
        });
        let acceptor = thread::Builder::new()
            .name("responses-server".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || accept(&listener, &shared)
            })?;
        Ok(Self {
            shared,
            address,
            acceptor: Some(acceptor),
        })
    }

    /// What to give an agent as base URL: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far, also those that the script does not answer.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.lock().requests.clone()
    }

    /// The requests so far that asked for a response of the model.
    pub fn model_requests(&self) -> Vec<RecordedRequest> {
        let state = self.shared.lock();
        state
            .requests
            .iter()
            .filter(|request| request.is_for_the_model())
            .cloned()
            .collect()
    }

    /// Waits until the model was asked `count` times in all; false if `timeout` passed first.
    pub fn wait_for_requests(&self, count: usize, timeout: Duration) -> bool {
        let waited = self
            .shared
            .changed
            .wait_timeout_while(self.shared.lock(), timeout, |state| {
                state.for_the_model < count
            });
        waited
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .for_the_model
            >= count
    }

    /// Waits until no client is connected any more; false if `timeout` passed first.
    pub fn wait_until_idle(&self, timeout: Duration) -> bool {
        let waited = self
            .shared
            .changed
            .wait_timeout_while(self.shared.lock(), timeout, |state| !state.open.is_empty());
        waited
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .open
            .is_empty()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.stopping = true;
            for client in state.open.values() {
                // Ends every blocked read and write; the client may have left already.
                let _ = client.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
        // `accept` blocks, so it is woken by a connection. Without one, joining would hang.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(5));
        if let (Ok(_), Some(acceptor)) = (woken, self.acceptor.take()) {
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for (key, client) in (0..).zip(listener.incoming()) {
        threads.retain(|thread| !thread.is_finished());
        {
            let mut state = shared.lock();
            if state.stopping {
                break;
            }
            // A connection that cannot be kept track of could not be ended either: drop it.
            let Ok((client, kept)) = client.and_then(|client| Ok((client.try_clone()?, client)))
            else {
                continue;
            };
            state.open.insert(key, kept);
            drop(state);
            let served = thread::Builder::new().spawn({
                let shared = Arc::clone(shared);
                move || {
                    // A client that leaves early or talks nonsense is its own business.
                    let _ = serve(&client, &shared);
                    // `close` alone would leave the connection open: `open` holds a copy.
                    let _ = client.shutdown(Shutdown::Both);
                    shared.lock().open.remove(&key);
                    shared.changed.notify_all();
                }
            });
            match served {
                Ok(thread) => threads.push(thread),
                Err(_) => drop(shared.lock().open.remove(&key)),
            }
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Serves one connection, which carries one request.
fn serve(client: &TcpStream, shared: &Shared) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut writer = client;
    let Some(request) = http::read_request(&mut BufReader::new(client), &mut writer)? else {
        return Ok(());
    };
    let at_ms = u64::try_from(shared.started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let record = RecordedRequest::new(&request, at_ms);
    let model = record.model().unwrap_or("unknown").to_owned();
    let Some((reply, number)) = shared.record(record, &request.body)? else {
        return play::play_other(client, &request.method, &request.path);
    };
    if shared.pause(Duration::from_millis(reply.delay_ms)) {
        play::play(client, &reply, number, &model)
    } else {
        Ok(())
    }
}

impl Shared {
    /// Records a request; if it is for the model, also picks its reply and its number.
    fn record(&self, record: RecordedRequest, body: &[u8]) -> io::Result<Option<(Reply, usize)>> {
        let mut state = self.lock();
        if let Some(log) = &mut state.log {
            let mut line = serde_json::to_vec(&record)?;
            line.push(b'\n');
            log.write_all(&line)?;
        }
        let picked = record.is_for_the_model().then(|| {
            state.for_the_model += 1;
            let number = state.for_the_model;
            (
                state.cursor.next(number, body, record.body.as_ref()),
                number,
            )
        });
        state.requests.push(record);
        drop(state);
        self.changed.notify_all();
        Ok(picked)
    }

    /// Waits; false if the server stopped meanwhile.
    fn pause(&self, delay: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), delay, |state| !state.stopping);
        !waited.unwrap_or_else(PoisonError::into_inner).0.stopping
    }
}
