#!/bin/sh
# Builds an adapter in JavaScript: build.sh OUTPUT.wasm
# COMPONENTIZE_QJS names the tool: `npm install componentize-qjs@0.4.5` has it.
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")"
# The tool wants all of the WIT in one folder.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/deps"
cp wit/world.wit "$work"
wit=wit/agent.wit
[ -f "$wit" ] || wit=../../wit/agent.wit
cp wit/filesystem.wit "$wit" "$work/deps"
mkdir -p "$(dirname "$output")"
# --sync: the contract has no asynchronous functions, and the engine no use for them.
"${COMPONENTIZE_QJS:-componentize-qjs}" --sync --wit "$work" --world javascript-adapter \
    --module-root . --js adapter/adapter.js --output "$output"
