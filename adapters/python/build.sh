#!/bin/sh
# Builds an adapter in Python: build.sh OUTPUT.wasm
# COMPONENTIZE_PY names the tool: `pip install componentize-py==0.25.1` in a venv has it.
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")"
# From a copy: Python leaves compiled files beside its sources.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R akbench_adapter adapter "$work"
wit=wit/agent.wit
[ -f "$wit" ] || wit=../../wit/agent.wit
mkdir -p "$(dirname "$output")"
"${COMPONENTIZE_PY:-componentize-py}" --wit-path "$wit" --world adapter \
    componentize --python-path "$work/adapter" --python-path "$work" --output "$output" adapter
