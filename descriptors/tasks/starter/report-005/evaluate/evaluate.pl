# Runs report.pl on a log that nobody has seen. 0: passed, 10: not passed.
use strict;
use warnings;

sub given { my ($name) = @_; my ($value) = ($ENV{$name} // die "$name is not set") =~ /(.*)/s; $value }
sub contents { my ($path) = @_; open my $file, '<', $path or return; local $/; scalar <$file> }

my $workspace = given('AKBENCH_WORKSPACE');
my $temporary = given('TMPDIR');
my $variant = contents(given('AKBENCH_VARIANT'));
my ($levels) = $variant =~ /"levels": "(\w+)"/ or die 'no variant';
my ($unit) = $variant =~ /"unit": "(\w+)"/ or die 'no variant';
my @levels = @{ { words => [qw(DEBUG INFO WARNING ERROR)], letters => [qw(D I W E)],
    reversed => [qw(trace note alert)] }->{$levels} };
my $length = { minute => 16, hour => 13, day => 10 }->{$unit} // die 'no variant';

my $conf = contents("$workspace/report.conf");
if (!defined $conf || $conf ne contents(given('AKBENCH_PREPARED') . '/report.conf')) {
    print "report.conf was changed\n";
    exit 10;
}

my @times = qw(2026-03-02T00:00:00Z 2026-03-01T23:59:59Z 2026-03-01T23:10:10Z 2025-12-31T23:10:59Z
    2026-03-01T23:59:01Z 2026-03-02T00:59:00Z);
my (%expected, @lines);
for my $at (0 .. 59) {
    my ($time, $level) = ($times[ $at * 7 % @times ], $levels[ $at * $at % @levels ]);
    push @lines, "$time [$level] message $at [$levels[0]]";
    $expected{ substr $time, 0, $length }{$level}++;
}
push @lines, '', 'no entry', "2026-03-01 [$levels[0]] no time", '2026-03-01T10:00:00Z [OTHER] x',
    "2026-03-01T10:00:00Z $levels[0] no brackets", lc "2026-03-01T10:00:00Z [$levels[0]] x";
my $wanted = '';
for my $begin (sort keys %expected) {
    $wanted .= join(' ', $begin, map { $expected{$begin}{$_} // 0 } @levels) . "\n";
}
$wanted .= "skipped 5\n";

open my $log, '>', "$temporary/log" or die $!;
print $log map { "$_\n" } @lines;
close $log or die $!;

my ($path) = given('PATH');
%ENV = (PATH => $path, LANG => 'C.UTF-8');
chdir $temporary or die $!;
my $pid = open my $pipe, '-|', 'timeout', '10', 'perl', "$workspace/report.pl", "$temporary/log";
die "perl could not be started: $!" unless $pid;
my $found = do { local $/; <$pipe> } // '';
close $pipe;
my $status = $?;
exit 0 if $status == 0 && $found eq $wanted;
print "expected (status 0):\n$wanted\nfound (status $status):\n$found";
exit 10;
