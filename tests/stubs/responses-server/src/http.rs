//! As much of HTTP/1.1 as one request per connection needs.

use std::io::{self, BufRead, Read, Write};

/// Longest request line and headers together, in bytes.
const MAX_HEAD: u64 = 256 << 10;
/// Longest body, in bytes.
const MAX_BODY: u64 = 256 << 20;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case, in the order of arrival.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Reads one request; `None` if the client leaves without sending any.
pub(crate) fn read_request(
    reader: &mut impl BufRead,
    writer: &mut impl Write,
) -> io::Result<Option<Request>> {
    let mut head = reader.take(MAX_HEAD);
    let Some(line) = read_line(&mut head)? else {
        return Ok(None);
    };
    let mut words = line.split_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(invalid("the request line is not `METHOD PATH VERSION`"));
    };
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    loop {
        let line = read_line(&mut head)?
            .ok_or_else(|| invalid("the connection ended within the headers"))?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| invalid("a header has no colon"))?;
        request
            .headers
            .push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request
        .header("expect")
        .is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let chunked = request
        .header("transfer-encoding")
        .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
    request.body = if chunked {
        read_chunks(reader)?
    } else {
        let length = match request.header("content-length") {
            Some(text) => text
                .parse()
                .map_err(|_| invalid("content-length is no number"))?,
            None => 0,
        };
        read_exactly(reader, length)?
    };
    Ok(Some(request))
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader)?
            .ok_or_else(|| invalid("the connection ended within a chunked body"))?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size =
            u64::from_str_radix(size, 16).map_err(|_| invalid("a chunk size is no number"))?;
        if size == 0 {
            // Trailers, up to an empty line.
            while read_line(reader)?.is_some_and(|line| !line.is_empty()) {}
            return Ok(body);
        }
        if body.len() as u64 + size > MAX_BODY {
            return Err(invalid("the body is too long"));
        }
        body.append(&mut read_exactly(reader, size)?);
        read_line(reader)?;
    }
}

fn read_exactly(reader: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(invalid("the body is too long"));
    }
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(invalid("the connection ended within the body"))
    }
}

/// A line without its ending; `None` at the end of the stream.
fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    reader.take(MAX_HEAD).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(invalid(
            "the connection ended within a line, or the line is too long",
        ));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Writes a whole answer.
pub(crate) fn write_answer<'a>(
    writer: &mut impl Write,
    code: u16,
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    body: &[u8],
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} {}\r\nconnection: close\r\n", reason(code));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    writer.write_all(head.as_bytes())?;
    writer.write_all(body)?;
    writer.flush()
}

/// Writes the head of a stream of events, which the end of the connection ends.
pub(crate) fn write_stream_head(writer: &mut impl Write) -> io::Result<()> {
    writer.write_all(
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\r\n",
    )?;
    writer.flush()
}

fn reason(code: u16) -> &'static str {
    match code {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        // The phrase may be anything; clients look at the number.
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Option<Request>> {
        let mut reader = bytes;
        read_request(&mut reader, &mut io::sink())
    }

    #[test]
    fn a_chunked_body_is_joined() {
        let request = read(b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4;x=y\r\n\": 1\r\n1\r\n}\r\n0\r\n\r\n")
            .unwrap()
            .unwrap();
        assert_eq!(request.body, br#"{"a": 1}"#);
    }

    #[test]
    fn a_client_that_sends_nothing_is_no_request_and_half_a_request_is_an_error() {
        assert!(read(b"").unwrap().is_none());
        let error = read(b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nab").unwrap_err();
        assert_eq!(error.to_string(), "the connection ended within the body");
    }
}
