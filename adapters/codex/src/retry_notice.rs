//! The notices by which the program says that it tries again: they look like errors and end
//! nothing.

/// A notice's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryNotice<'a> {
    /// The error behind it; old versions do not say.
    pub reason: Option<&'a str>,
    /// True if it goes on for ever.
    pub unbounded: bool,
}

impl RetryNotice<'_> {
    /// True if the endpoint refused the request before the model ran, so that no tokens were
    /// used: 401, 403 or 429.
    pub fn was_refused(&self) -> bool {
        let status = self.reason.and_then(|reason| {
            reason
                .strip_prefix("unexpected status ")
                .or_else(|| reason.strip_prefix("exceeded retry limit, last status: "))
        });
        status.is_some_and(|rest| {
            ["401 ", "403 ", "429 "]
                .iter()
                .any(|refusal| rest.starts_with(refusal))
        })
    }
}

/// Reads `Reconnecting... 2/5 (reason)`, `Reconnecting... waiting for network (reason)` and
/// the older `Re-connecting... 2/5`; `None` for any other message.
pub fn parse(message: &str) -> Option<RetryNotice<'_>> {
    let rest = message
        .strip_prefix("Reconnecting... ")
        .or_else(|| message.strip_prefix("Re-connecting... "))?;
    let (progress, reason) = match rest.split_once(" (") {
        Some((progress, reason)) => (progress, Some(reason.strip_suffix(')')?)),
        None => (rest, None),
    };
    let unbounded = progress == "waiting for network";
    (unbounded || is_count(progress)).then_some(RetryNotice { reason, unbounded })
}

fn is_count(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('/')
        .is_some_and(|(n, of)| number(n) && number(of))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn all_known_forms_are_read() {
        let notice = |reason, unbounded| Some(RetryNotice { reason, unbounded });
        assert_eq!(parse("Re-connecting... 1/5"), notice(None, false));
        assert_eq!(
            parse("Reconnecting... 2/5 (a (b) c)"),
            notice(Some("a (b) c"), false)
        );
        assert_eq!(
            parse("Reconnecting... waiting for network (x)"),
            notice(Some("x"), true)
        );
    }

    #[test]
    fn a_refusal_names_its_status_at_the_start() {
        for (reason, refused) in [
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                true,
            ),
            ("unexpected status 401 Unauthorized: {}, url: x", true),
            (
                "exceeded retry limit, last status: 503 Service Unavailable",
                false,
            ),
            ("stream disconnected before completion: 429 ", false),
            ("unexpected status 4290", false),
        ] {
            let message = format!("Reconnecting... 1/5 ({reason})");
            assert_eq!(parse(&message).unwrap().was_refused(), refused, "{reason}");
        }
        assert!(!parse("Re-connecting... 1/5").unwrap().was_refused());
    }

    #[test]
    fn other_messages_are_none() {
        for message in [
            "Reconnecting",
            "Reconnecting... soon",
            "Reconnecting... 1/",
            "x 1/5 (y)",
        ] {
            assert_eq!(parse(message), None, "{message}");
        }
    }
}
