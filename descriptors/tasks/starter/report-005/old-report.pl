#!/usr/bin/perl
# Counts lines per hour. Written when there was one level only.
use strict;
use warnings;

my %count;
while (my $line = <>) {
    $count{$1}++ if $line =~ /^(\S{13})/;
}
print "$_ $count{$_}\n" for keys %count;
