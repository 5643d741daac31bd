#!/usr/bin/env bash
# Builds, changes, and builds again. 0: passed, 10: not passed.
set -euo pipefail
command -v make > /dev/null || { echo "make is missing" >&2; exit 2; }
command -v gcc > /dev/null || { echo "gcc is missing" >&2; exit 2; }

not_passed() {
    echo "$*"
    exit 10
}

cd "$AKBENCH_WORKSPACE"
for file in NAME $(cd "$AKBENCH_PREPARED" && find src include -type f 2> /dev/null); do
    cmp -s "$AKBENCH_PREPARED/$file" "$file" || not_passed "$file was changed"
done
[[ -f Makefile ]] || not_passed "there is no Makefile"
name="$(cat NAME)"
header="$(find src include -name words.h 2> /dev/null || true)"
mainfile="$(grep -l 'int main' src/*.c)"
object() { local base="${1##*/}"; echo "build/${base%.c}.o"; }

build() {
    env -i PATH="$PATH" HOME="$HOME" timeout 30 make "$@" < /dev/null || not_passed "make $* failed"
}
says() {
    [[ "$("./$name")" == "$1" ]] || not_passed "$name does not say: $1"
}
# Everything made is older than whatever is touched afterwards, without waiting for a clock.
age() {
    find . -not -path './.git*' -type f -exec touch -d '2024-01-01 00:00:00' {} +
    find build "$name" -type f -exec touch -d '2024-01-01 00:01:00' {} +
    touch -d '2024-01-01 00:02:00' "$name"
}
rebuilt() { [[ "$1" -nt "$TMPDIR/mark" ]]; }
touch -d '2024-06-01 00:00:00' "$TMPDIR/mark"

rm -rf build "$name"
before="$(ls src)"
build
says "good morning, world"
[[ "$(ls src)" == "$before" ]] || not_passed "make writes to src/"
for source in src/*.c; do
    [[ -f "$(object "$source")" ]] || not_passed "there is no $(object "$source")"
done

age
build
for file in "$name" build/*.o; do
    ! rebuilt "$file" || not_passed "$file is rebuilt though nothing changed"
done

age
sed -i 's/good morning/good night/' "$header"
build
says "good night, world"
rebuilt build/words.o || not_passed "build/words.o is not rebuilt with its header"
! rebuilt "$(object "$mainfile")" || not_passed "$mainfile is compiled again for a header that it does not include"

age
sed -i 's/"world"/"moon"/' src/words.c
build
says "good night, moon"
! rebuilt build/speak.o || not_passed "build/speak.o is rebuilt for another source"

age
sed -i 's/"moon"/extra()/; s/^const char \*whom/const char *extra(void);\n&/' src/words.c
printf 'const char *extra(void);\n\nconst char *extra(void)\n{\n    return "stars";\n}\n' > src/extra.c
build
says "good night, stars"

build clean
[[ ! -e build && ! -e "$name" ]] || not_passed "make clean leaves something"
