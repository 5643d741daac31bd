#!/usr/bin/env bash
# Totals by group, as FORMAT.txt says.
set -euo pipefail
format="$(dirname "${BASH_SOURCE[0]}")/FORMAT.txt"
setting() { sed -n "s/^$1: //p" "$format"; }
separator="$(setting separator)"
group="$(setting group)"
comment="$(setting comment)"
SEPARATOR="$separator" COMMENT="$comment" GROUP="${group##* }" awk '
    BEGIN { separator = ENVIRON["SEPARATOR"]; comment = ENVIRON["COMMENT"]; group = ENVIRON["GROUP"] }
    $0 == "" || index($0, comment) == 1 { next }
    {
        rest = $0
        for (column = 1; column < 3; column++) {
            at = index(rest, separator)
            value[column] = substr(rest, 1, at - 1)
            rest = substr(rest, at + length(separator))
        }
        total[value[group]] += rest
    }
    END { for (name in total) print name "=" total[name] }
' "$1" | LC_ALL=C sort
