//! Several files in one input, so that a mutation can change any of them.

const HEAD: &[u8] = b"=== ";

/// The files of an input, in order: each begins with a line `=== name`. What stands before the
/// first one belongs to none.
pub fn split(input: &[u8]) -> Vec<(&str, &[u8])> {
    let mut heads = Vec::new();
    let mut at = 0;
    while at < input.len() {
        let end = input[at..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(input.len(), |line| at + line + 1);
        if let Some(name) = input[at..end].strip_prefix(HEAD)
            && let Ok(name) = std::str::from_utf8(name)
        {
            heads.push((at, end, name.trim_end()));
        }
        at = end;
    }
    let ends = heads
        .iter()
        .skip(1)
        .map(|(begin, _, _)| *begin)
        .chain([input.len()]);
    heads
        .iter()
        .zip(ends)
        .map(|((_, begin, name), end)| (*name, &input[*begin..end]))
        .collect()
}

/// An input made of these files; each content ends with a newline.
pub fn join<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut input = Vec::new();
    for (name, bytes) in files {
        input.extend_from_slice(HEAD);
        input.extend_from_slice(name.as_bytes());
        input.push(b'\n');
        input.extend_from_slice(bytes);
        if !bytes.ends_with(b"\n") {
            input.push(b'\n');
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_joined_is_split_again() {
        let files: [(&str, &[u8]); 3] = [("a", b"1\n== 2\n"), ("b/c", b"\n"), ("d", b"\xff\n")];
        assert_eq!(split(&join(files)), files);
        assert_eq!(split(b"no head\n=== x"), [("x", b"".as_slice())]);
        assert_eq!(split(b""), []);
    }
}
