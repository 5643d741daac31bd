#!/usr/bin/perl
use strict;
use warnings;
use FindBin;

my %conf;
open my $conf, '<', "$FindBin::Bin/report.conf" or die "report.conf: $!\n";
while (my $line = <$conf>) {
    $conf{$1} = $2 if $line =~ /^(\w+) = (.*)$/;
}
my @levels = split ' ', $conf{levels};
my %known = map { $_ => 1 } @levels;
my $length = { day => 10, hour => 13, minute => 16 }->{ $conf{per} };

my (%count, $skipped);
$skipped = 0;
open my $log, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
while (my $line = <$log>) {
    chomp $line;
    next if $line eq '';
    if ($line =~ /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) \[(\S+)\] / && $known{$2}) {
        $count{ substr $1, 0, $length }{$2}++;
    } else {
        $skipped++;
    }
}
for my $unit (sort keys %count) {
    print join(' ', $unit, map { $count{$unit}{$_} || 0 } @levels), "\n";
}
print "skipped $skipped\n";
