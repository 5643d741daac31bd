"""Splitting amounts; see policy.py."""

from ledger.policy import REMAINDER


def split(amount, weights):
    total = sum(weights)
    if any(weight < 0 for weight in weights) or total <= 0:
        raise ValueError("weights must not be negative, and one must be above zero")
    if amount < 0:
        return [-share for share in split(-amount, weights)]
    shares = [amount * weight // total for weight in weights]
    candidates = [at for at, weight in enumerate(weights) if weight > 0]
    if REMAINDER == "last":
        candidates.reverse()
    elif REMAINDER == "largest-fraction":
        candidates.sort(key=lambda at: -(amount * weights[at] % total))
    for at in candidates[: amount - sum(shares)]:
        shares[at] += 1
    return shares
