"""How an amount is split among several parties.

`split(amount, weights)` splits an integer number of cents in proportion to the weights:
integers, none negative, at least one above zero. It returns a list of integers, one for each
weight, whose sum is exactly the amount.

Each party first gets its exact share rounded towards zero. The cents that are then left over
go to parties with a weight above zero, one cent to each, chosen by REMAINDER:

- "largest-fraction": those whose exact share lost most by rounding; among equals the one that
  comes first.
- "first": the first ones.
- "last": the last ones.

A negative amount is split like its opposite, with every share negated.

Anything else than such weights is a ValueError.
"""

REMAINDER = "largest-fraction"
