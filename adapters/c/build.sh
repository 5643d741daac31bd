#!/bin/sh
# Builds an adapter in C: build.sh OUTPUT.wasm
# Needs clang-19, lld-19, wasi-libc and libclang-rt-19-dev-wasm32 (Debian's names), and
# `wit-bindgen` 0.61 and `wasm-tools` (`cargo install wit-bindgen-cli wasm-tools`). CC, LD,
# WIT_BINDGEN and WASM_TOOLS name other ones.
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/wit/deps" "$work/bindings" "$(dirname "$output")"
cp wit/world.wit "$work/wit"
wit=wit/agent.wit
[ -f "$wit" ] || wit=../../wit/agent.wit
cp wit/filesystem.wit "$wit" "$work/wit/deps"
"${WIT_BINDGEN:-wit-bindgen}" c "$work/wit" --world adapter --out-dir "$work/bindings"
# The generated code has unused helpers; ours is compiled with all warnings.
"${CC:-clang-19}" --target=wasm32-wasi -O2 -w -c "$work/bindings/adapter.c" -o "$work/adapter.o"
"${CC:-clang-19}" --target=wasm32-wasi -O2 -std=c17 -Wall -Wextra -Werror -mexec-model=reactor \
    -fuse-ld="${LD:-/usr/bin/wasm-ld-19}" -Wl,--strip-debug -I sdk -I adapter -I "$work/bindings" \
    sdk/*.c adapter/*.c "$work/adapter.o" "$work/bindings/adapter_component_type.o" \
    -o "$work/adapter.core.wasm"
"${WASM_TOOLS:-wasm-tools}" component new "$work/adapter.core.wasm" -o "$output"
