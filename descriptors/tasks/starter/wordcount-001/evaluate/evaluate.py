"""Compares wordcount.py with an independent count on texts that nobody has seen."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

VARIANT = json.loads(pathlib.Path(os.environ["AKBENCH_VARIANT"]).read_text())["mutations"]
WORKSPACE = pathlib.Path(os.environ["AKBENCH_WORKSPACE"])
PREPARED = pathlib.Path(os.environ["AKBENCH_PREPARED"])
LETTERS = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

TEXTS = [
    "One two two three three three One\n".encode(),
    "The THE the tHe a A ab-ab it's 3rd x1y\n".encode(),
    "caf\u00e9 na\u00efve Zebra apple zebra Apple\n\n\tend".encode(),
    b"bad \xff bytes \xfe\xfd bad\n",
    b"",
    b"1 2 3 -- !!\n",
]


def expected(text):
    words, word = [], bytearray()
    for byte in text + b" ":
        if byte in LETTERS:
            word.append(byte)
        elif word:
            words.append(word.decode())
            word = bytearray()
    if VARIANT["case"] == "folded":
        words = [word.lower() for word in words]
    least = {"one": 1, "three": 3}[VARIANT["shortest"]]
    counts = {}
    for word in words:
        if len(word) >= least:
            counts[word] = counts.get(word, 0) + 1
    names = sorted(counts)
    if VARIANT["order"] == "most-first":
        names.sort(key=lambda name: -counts[name])
    elif VARIANT["order"] == "least-first":
        names.sort(key=lambda name: counts[name])
    line = "{0}: {1}\n" if VARIANT["format"] == "word-first" else "{1}\t{0}\n"
    return "".join(line.format(name, counts[name]) for name in names)


def run(text):
    with tempfile.NamedTemporaryFile() as file:
        file.write(text)
        file.flush()
        return subprocess.run(
            [sys.executable, "wordcount.py", file.name],
            cwd=WORKSPACE,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
        )


def check(text):
    try:
        ran = run(text)
    except subprocess.TimeoutExpired:
        print(f"{text!r}: did not end within 5 s")
        return False
    wanted = expected(text)
    if ran.returncode == 0 and ran.stdout == wanted.encode():
        return True
    print(f"{text!r}: expected {wanted!r}, got {ran.stdout!r} (exit {ran.returncode})")
    print(ran.stderr.decode(errors="replace"))
    return False


def main():
    rules = WORKSPACE / "RULES.md"
    if not rules.is_file() or rules.read_bytes() != (PREPARED / "RULES.md").read_bytes():
        print("RULES.md was changed")
        return 10
    passed = sum(check(text) for text in TEXTS)
    pathlib.Path(os.environ["AKBENCH_SCORE"]).write_text(str(passed / len(TEXTS)))
    return 0 if passed == len(TEXTS) else 10


sys.exit(main())
