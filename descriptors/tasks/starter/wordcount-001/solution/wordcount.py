"""Counts the words of a file as RULES.md says."""

import collections
import pathlib
import re
import sys


def rules():
    text = pathlib.Path(__file__).with_name("RULES.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^- (\w[\w ]*): (.*)$", text, re.M))


def main():
    rule = rules()
    text = pathlib.Path(sys.argv[1]).read_bytes().decode("latin-1")
    words = re.findall("[A-Za-z]+", text)
    if rule["case"] == "ignore":
        words = [word.lower() for word in words]
    least = int(rule["shortest word"].split()[0])
    counts = collections.Counter(word for word in words if len(word) >= least)
    order = {
        "most frequent first": lambda word: (-counts[word], word),
        "rarest first": lambda word: (counts[word], word),
        "by word": lambda word: word,
    }[rule["order"]]
    for word in sorted(counts, key=order):
        if rule["line"].startswith("WORD"):
            print(f"{word}: {counts[word]}")
        else:
            print(f"{counts[word]}\t{word}")


if __name__ == "__main__":
    main()
