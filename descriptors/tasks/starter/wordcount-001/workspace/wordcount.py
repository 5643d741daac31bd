"""Counts the words of a file."""

import sys


def main():
    counts = {}
    for word in open(sys.argv[1]).read().split():
        counts[word] = counts.get(word, 0) + 1
    for word in counts:
        print(word, counts[word])


if __name__ == "__main__":
    main()
