"""Splitting amounts; see policy.py."""

from ledger.policy import REMAINDER  # noqa: F401


def split(amount, weights):
    total = sum(weights)
    shares = []
    for weight in weights:
        share = amount * weight / total
        shares.append(int(share))
    return shares
