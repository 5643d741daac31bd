#!/usr/bin/env bash
# Builds the agent's ring.c with the header as it was given, and drives it beside a model.
set -euo pipefail
command -v gcc > /dev/null || { echo "gcc is missing" >&2; exit 2; }
mkdir "$TMPDIR/build"
cp "$AKBENCH_PREPARED/ring.h" model.c "$TMPDIR/build"
# That the model itself builds is the evaluator's business.
gcc -std=c11 -Wall -Wextra -Werror -O1 -I"$TMPDIR/build" -c -o "$TMPDIR/model.o" model.c
for file in ring.h check.c Makefile; do
    if ! cmp -s "$AKBENCH_PREPARED/$file" "$AKBENCH_WORKSPACE/$file"; then
        echo "$file was changed"
        exit 10
    fi
done
cp "$AKBENCH_WORKSPACE/ring.c" "$TMPDIR/build" || exit 10
flags=(-std=c11 -Wall -Wextra -Werror -O1 -g -fsanitize=address,undefined)
gcc "${flags[@]}" -o "$TMPDIR/driven" "$TMPDIR/build/ring.c" "$TMPDIR/build/model.c" || exit 10
env -i PATH="$PATH" timeout 20 "$TMPDIR/driven" || exit 10
