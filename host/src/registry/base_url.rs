//! The addresses of endpoints: checked simply, shown without secrets.

/// Whether agents can be sent to an address.
pub(super) fn check_base_url(url: &str) -> Result<(), &'static str> {
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("expected a URL without spaces, line breaks or control characters");
    }
    let (scheme, rest) = url
        .split_once("://")
        .ok_or("expected a URL that starts with http:// or https://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err("expected a URL that starts with http:// or https://");
    }
    if rest.contains(['?', '#']) {
        return Err("expected a URL without query and fragment: paths are appended to it");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err("expected a URL without user and password: it is recorded; use `credential`");
    }
    let (host, port) = match authority.strip_prefix('[') {
        // An IPv6 address has colons of its own.
        Some(bracketed) => {
            let (host, after) = bracketed
                .split_once(']')
                .ok_or("expected `]` after the IPv6 address")?;
            match after {
                "" => (host, None),
                after => (
                    host,
                    Some(
                        after
                            .strip_prefix(':')
                            .ok_or("expected `:` or `/` after the IPv6 address")?,
                    ),
                ),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() {
        return Err("expected a host after `://`");
    }
    match port {
        Some(port)
            if !port.bytes().all(|byte| byte.is_ascii_digit())
                || !port.parse().is_ok_and(|port: u16| port > 0) =>
        {
            Err("expected a port from 1 to 65535 after the host")
        }
        _ => Ok(()),
    }
}

/// A URL for an error message: what might be a password or a token is left out.
pub(super) fn without_secrets(url: &str) -> String {
    let (base, hidden) = match url.split_once(['?', '#']) {
        Some((base, _)) => (base, "…"),
        None => (url, ""),
    };
    match base.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}{hidden}"),
        None => format!("{base}{hidden}"),
    }
}
