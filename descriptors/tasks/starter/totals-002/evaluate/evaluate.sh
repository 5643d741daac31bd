#!/usr/bin/env bash
# Runs totals.sh on records that nobody has seen. 0: passed, 10: not passed.
set -euo pipefail
variant() { sed -n "s/.*\"$1\": \"\([a-z-]*\)\".*/\1/p" "$AKBENCH_VARIANT"; }
case "$(variant separator)" in
    semicolon) s=';' ;;
    pipe) s='|' ;;
    caret) s='^' ;;
    *) echo "unknown variant" >&2; exit 2 ;;
esac
case "$(variant comment)" in
    hash) c='#'; other='//' ;;
    slashes) c='//'; other='#' ;;
    *) echo "unknown variant" >&2; exit 2 ;;
esac
if ! cmp -s "$AKBENCH_PREPARED/FORMAT.txt" "$AKBENCH_WORKSPACE/FORMAT.txt"; then
    echo "FORMAT.txt was changed"
    exit 10
fi
printf '%s\n' "big cat${s}x y${s}5" "${c}note${s}x y${s}1000" "" "ant${s}x y${s}-7" \
    "${other}odd${s}Z${s}3" "big cat${s}Z${s}40" "a.b${s}a.b${s}1" > "$TMPDIR/records"
if [[ "$(variant group)" == first ]]; then
    printf '%s\n' "${other}odd=3" "a.b=1" "ant=-7" "big cat=45"
else
    printf '%s\n' "Z=43" "a.b=1" "x y=-2"
fi | LC_ALL=C sort > "$TMPDIR/expected"
: > "$TMPDIR/empty"
run() {
    env -i PATH="$PATH" LANG=C.UTF-8 timeout 5 bash "$AKBENCH_WORKSPACE/totals.sh" "$1" < /dev/null
}
score=0
if run "$TMPDIR/records" > "$TMPDIR/found" && diff "$TMPDIR/expected" "$TMPDIR/found"; then
    score=1
fi
if ! run "$TMPDIR/empty" > "$TMPDIR/found" || [[ -s "$TMPDIR/found" ]]; then
    echo "a file without records gives output, or an error"
    score=0
fi
echo "$score" > "$AKBENCH_SCORE"
[[ "$score" == 1 ]] || exit 10
