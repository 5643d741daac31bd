"""Splits amounts that nobody has seen, in a process of its own."""

import fractions
import json
import os
import pathlib
import random
import subprocess
import sys

VARIANT = json.loads(pathlib.Path(os.environ["AKBENCH_VARIANT"]).read_text())["mutations"]
WORKSPACE = pathlib.Path(os.environ["AKBENCH_WORKSPACE"])
PREPARED = pathlib.Path(os.environ["AKBENCH_PREPARED"])

DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from ledger.split import split
answers = []
for amount, weights in json.load(sys.stdin):
    try:
        answers.append(split(amount, weights))
    except ValueError:
        answers.append("ValueError")
    except Exception as error:
        answers.append(repr(error))
print(json.dumps(answers))
"""


def expected(amount, weights):
    if not any(weight > 0 for weight in weights) or any(weight < 0 for weight in weights):
        return "ValueError"
    if amount < 0:
        return [-share for share in expected(-amount, weights)]
    exact = [fractions.Fraction(amount * weight, sum(weights)) for weight in weights]
    shares = [int(share) for share in exact]
    while sum(shares) < amount:
        # Whoever was given a cent already is above its exact share.
        open_to = [at for at, weight in enumerate(weights) if weight and shares[at] <= exact[at]]
        if VARIANT["remainder"] == "first":
            at = open_to[0]
        elif VARIANT["remainder"] == "last":
            at = open_to[-1]
        else:
            at = max(open_to, key=lambda at: (exact[at] - shares[at], -at))
        shares[at] += 1
    return shares


def cases():
    yield from [
        (100, [1, 1, 1]),
        (-100, [1, 1, 1]),
        (5, [0, 1, 1, 0]),
        (1, [1, 1]),
        (0, [3]),
        (10**30 + 1, [1, 2, 4]),
        (7, []),
        (7, [0, 0]),
        (7, [2, -1]),
    ]
    source = random.Random(7)
    for _ in range(300):
        weights = [source.randrange(6) for _ in range(source.randrange(1, 7))]
        yield source.randrange(-500, 500), weights


def main():
    policy = WORKSPACE / "ledger/policy.py"
    if not policy.is_file() or policy.read_bytes() != (PREPARED / "ledger/policy.py").read_bytes():
        print("ledger/policy.py was changed")
        return 10
    asked = list(cases())
    try:
        ran = subprocess.run(
            [sys.executable, "-I", "-c", DRIVER, str(WORKSPACE)],
            input=json.dumps(asked).encode(),
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            cwd=WORKSPACE,
            capture_output=True,
            timeout=20,
        )
        answers = json.loads(ran.stdout) if ran.returncode == 0 else []
    except (subprocess.TimeoutExpired, ValueError) as error:
        print(error)
        return 10
    if not isinstance(answers, list) or len(answers) != len(asked):
        print(ran.stderr.decode(errors="replace"))
        return 10
    wrong = 0
    for (amount, weights), answer in zip(asked, answers):
        wanted = expected(amount, weights)
        if answer != wanted:
            wrong += 1
            if wrong <= 10:
                print(f"split({amount}, {weights}): expected {wanted}, got {answer}")
    pathlib.Path(os.environ["AKBENCH_SCORE"]).write_text(str(1 - wrong / len(asked)))
    return 10 if wrong else 0


sys.exit(main())
