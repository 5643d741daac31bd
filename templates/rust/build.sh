#!/bin/sh
# Builds an adapter in Rust: build.sh OUTPUT.wasm
#
# Needs `wasm-tools` (`cargo install wasm-tools`; WASM_TOOLS names another one) and a compiler for
# wasm32-unknown-unknown, which is looked for in this order:
#   1. the active toolchain, if it has the target;
#   2. the distribution's in /usr/bin, if it has the target or the sources of the standard library
#      (Debian: rustc-web, cargo-web, rust-web-src), which are then compiled once;
#   3. `rustup target add`.
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
# Meant for the host.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET RUSTC_WRAPPER

has_std() {
    for library in "$("$1" --print target-libdir --target $target 2> /dev/null)"/libstd-*.rlib; do
        [ -e "$library" ] && return
    done
    return 1
}

has_sources() {
    [ -f "$("$1" --print sysroot 2> /dev/null)/lib/rustlib/src/rust/library/std/Cargo.toml" ]
}

# rust-lld of the active toolchain, else a linker in PATH.
linker() {
    host=$(rustc -vV 2> /dev/null | sed -n 's/^host: //p')
    own=$(rustc --print sysroot 2> /dev/null)/lib/rustlib/$host/bin/rust-lld
    [ -x "$own" ] && echo "$own" && return
    command -v wasm-ld || command -v wasm-ld-19 || command -v rust-lld
}

build_with_the_active_one() {
    cargo build --release --target $target --package AKBENCH_NAME
}

build_with_the_distributions() {
    set -- /usr/bin/cargo build --release --target $target --package AKBENCH_NAME
    has_std /usr/bin/rustc || set -- RUSTC_BOOTSTRAP=1 "$@" -Zbuild-std=std,panic_abort
    env -u RUSTUP_TOOLCHAIN -u LD_LIBRARY_PATH RUSTC=/usr/bin/rustc \
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(linker)" "$@"
}

if has_std rustc; then
    build_with_the_active_one
elif [ -x /usr/bin/cargo ] && linker > /dev/null && { has_std /usr/bin/rustc || has_sources /usr/bin/rustc; }; then
    build_with_the_distributions
elif rustup target add $target; then
    build_with_the_active_one
else
    echo "no compiler for $target: run \`rustup target add $target\`, or, on Debian and as root," >&2
    echo "\`apt-get install rustc-web cargo-web rust-web-src\`" >&2
    exit 1
fi
mkdir -p "$(dirname "$output")"
library=$(echo AKBENCH_NAME | tr - _)
"${WASM_TOOLS:-wasm-tools}" component new "$CARGO_TARGET_DIR/$target/release/$library.wasm" -o "$output"
