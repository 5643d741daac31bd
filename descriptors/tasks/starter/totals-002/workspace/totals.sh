#!/usr/bin/env bash
# Totals by group: name,group,amount.
awk -F, '{ total[$2] += $3 } END { for (group in total) print group ": " total[group] }' "$1"
