//! The fuzzer: libFuzzer's `main`, on the target that `AKBENCH_FUZZ_TARGET` names.

#![no_main]
// The entry point for libFuzzer is a symbol of its own.
#![allow(clippy::expect_used, clippy::panic)]

use akbench_fuzz::Target;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("AKBENCH_FUZZ_TARGET").unwrap_or_default();
    Target::named(&name).unwrap_or_else(|| panic!("AKBENCH_FUZZ_TARGET names no target: `{name}`"))
});

fuzz_target!(|input: &[u8]| (TARGET.run)(input));
