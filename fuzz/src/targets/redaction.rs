//! Masking: however a stream is cut, no secret passes and no byte is lost.

use akbench::process::redaction::Redactor;

/// The first line is the secret, the second how the stream is cut, the rest the stream.
pub fn redaction(input: &[u8]) {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let (Some(secret), Some(cuts), Some(stream)) = (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    // Shorter ones are refused before they come here; what consists of masks hides in masks.
    if secret.len() < 8 || secret.contains(&b'*') {
        return;
    }
    let redactor = Redactor::new([secret]).expect("one secret is not too large");
    let mut whole = stream.to_vec();
    let masks = redactor.mask(&mut whole);
    let mut cut = redactor.stream();
    let mut written = Vec::new();
    let mut rest = stream;
    for length in cuts.iter().cycle().take(stream.len()) {
        let length = usize::from(*length % 32).min(rest.len());
        let (piece, later) = rest.split_at(length);
        written.extend(cut.push(piece));
        rest = later;
    }
    written.extend(cut.push(rest));
    written.extend(cut.finish());
    assert_eq!(written, whole, "cutting changes what is masked");
    assert_eq!(cut.masks(), masks);
    assert_eq!(whole.len(), stream.len(), "offsets stay true");
    assert!(!whole.windows(secret.len()).any(|part| part == secret));
}
