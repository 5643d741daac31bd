//! The socket between engine and supervisor.

use akbench::supervisor::protocol::{MAX_FRAME, Reply, Request, decode, encode};
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The input is what arrives on the socket, at either end.
pub fn protocol(input: &[u8]) {
    at_this_end::<Request>(input);
    at_this_end::<Reply>(input);
}

/// However it is cut, the same arrives; and what arrived can be sent.
fn at_this_end<T: DeserializeOwned + serde::Serialize + Debug + PartialEq>(input: &[u8]) {
    let mut whole = input.to_vec();
    let mut expected: Vec<T> = Vec::new();
    let broke = loop {
        match decode::<T>(&mut whole) {
            Ok(Some(message)) => expected.push(message),
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    let mut buffer = Vec::new();
    let mut found: Vec<T> = Vec::new();
    let mut broken = false;
    for piece in input.chunks(3) {
        buffer.extend_from_slice(piece);
        loop {
            match decode::<T>(&mut buffer) {
                Ok(Some(message)) => found.push(message),
                Ok(None) => break,
                Err(_) => {
                    broken = true;
                    break;
                }
            }
        }
        if broken {
            break;
        }
    }
    assert_eq!((&found, broken), (&expected, broke));
    for message in found {
        let mut frame = encode(&message).expect("what fitted a frame fits again");
        assert!(frame.len() <= MAX_FRAME + 4);
        assert_eq!(
            decode::<T>(&mut frame).expect("its own frame"),
            Some(message)
        );
    }
}
