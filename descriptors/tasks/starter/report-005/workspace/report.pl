#!/usr/bin/perl
use strict;
use warnings;

die "the report is not written yet\n";
