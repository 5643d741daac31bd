//! Ready-made scripts.

use crate::reply::Reply;
use crate::script::Script;

/// One shell command that writes `out.txt` (`hi`), then a final message. Usage: 1000 input
/// and 50 output tokens, then 1100 input (900 of them cached) and 20 output tokens.
pub fn happy() -> Script {
    Script::new(happy_replies())
}

fn happy_replies() -> [Reply; 2] {
    [
        Reply::shell("call_1", "echo hi > out.txt && cat out.txt").usage(1000, 0, 50, 0),
        Reply::message("Wrote out.txt.").usage(1100, 900, 20, 0),
    ]
}

/// Adds the file `new.txt` (`line one`, `line two`) with a patch, then a final message.
pub fn patch() -> Script {
    let cmd = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+line one\n+line two\n*** End Patch\nEOF\n";
    Script::new([
        Reply::shell("call_1", cmd).usage(1000, 0, 60, 0),
        Reply::message("Added new.txt.").usage(1100, 900, 20, 0),
    ])
}

/// One shell command that takes `seconds`, then a final message.
pub fn long_tool_call(seconds: u32) -> Script {
    Script::new([
        Reply::shell("call_1", format!("sleep {seconds}")).usage(1000, 0, 50, 0),
        Reply::message("Slept.").usage(1100, 900, 20, 0),
    ])
    // An agent may ask again while the command is running.
    .repeat_last()
}

/// The credential is refused.
pub fn unauthorized() -> Script {
    Script::always(Reply::error(
        401,
        "invalid_request_error",
        "invalid_api_key",
        "Incorrect API key provided.",
    ))
}

/// The model does not exist.
pub fn model_not_found() -> Script {
    Script::always(Reply::error(
        404,
        "invalid_request_error",
        "model_not_found",
        "The model does not exist or you do not have access to it.",
    ))
}

fn too_many_requests() -> Reply {
    Reply::error(
        429,
        "requests",
        "rate_limit_exceeded",
        "Rate limit reached.",
    )
    .header("retry-after", "1")
}

/// One request is one too many, then [`happy`].
pub fn rate_limited_once_then_happy() -> Script {
    Script::new([too_many_requests()].into_iter().chain(happy_replies()))
}

/// Every request is one too many.
pub fn rate_limited_always() -> Script {
    Script::always(too_many_requests())
}

/// The account has no quota left.
pub fn quota_exceeded() -> Script {
    Script::always(Reply::error(
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ))
}

/// The endpoint always fails.
pub fn server_error_always() -> Script {
    Script::always(Reply::error(
        500,
        "server_error",
        "server_error",
        "The server had an error.",
    ))
}

/// The endpoint says, within the stream, that it is overloaded.
pub fn overloaded() -> Script {
    Script::always(Reply::failed(
        "server_is_overloaded",
        "The server is overloaded.",
    ))
}

/// The conversation does not fit the model's context window.
pub fn context_window() -> Script {
    Script::always(Reply::failed(
        "context_length_exceeded",
        "Your input exceeds the context window of this model.",
    ))
}

/// The model stops at its output limit.
pub fn output_limit() -> Script {
    Script::always(Reply::incomplete("max_output_tokens").usage(1000, 0, 4096, 0))
}

/// Every stream breaks after some text, before its end.
pub fn cut_always() -> Script {
    Script::always(Reply::message("This is not the e").cut_before_end())
}

/// No request gets a single byte.
pub fn hang_before_headers() -> Script {
    Script::always(Reply::hang_before_headers())
}

/// Every request is accepted, and then nothing comes.
pub fn hang_after_created() -> Script {
    Script::always(Reply::hang_after_created())
}
