# SPDX-License-Identifier: GPL-2.0-only
#
# Reads the list of what the users of the header need and what they know, and holds the header
# against it. One statement a line, an indented line goes on with the one above, # is a comment:
#
#	type NAME		this type is there; its layout goes into the header
#	member TYPE NAME...	this type is there and has these members
#	value NAME...		these enumerators are there
#	function NAME...	these functions are exported
#	known TYPE NAME...	this type has no members but these; not all of them need to be there
#	opaque NAME...		the layout of these types does not go into the header
package btf::Expect;
use strict;
use warnings FATAL => 'all';

my %ARGUMENTS = (type => 1, member => 2, value => 1, function => 1, known => 2, opaque => 1);

sub load
{
	my ($class, $file) = @_;
	my $self = bless { file => $file, type => {}, member => {}, value => {}, function => {},
		known => {}, opaque => {} }, $class;
	my @statements;

	open my $in, '<', $file or die "$file: $!\n";
	while (my $line = <$in>) {
		$line =~ s/#.*//s;
		my @words = split ' ', $line;

		if (!@words) {
			next;
		} elsif ($line =~ /^\s/ && @statements) {
			push @{$statements[-1]}, @words;
		} else {
			push @statements, [@words];
		}
	}
	for my $statement (@statements) {
		my ($what, @names) = @$statement;

		die "$file: '@$statement' is no statement\n"
			unless @names >= ($ARGUMENTS{$what} // 1_000_000);
		if ($what eq 'member' || $what eq 'known') {
			my $type = shift @names;

			$self->{type}{$type} = 1;
			$self->{$what}{$type}{$_} = 1 for @names;
		} else {
			$self->{$what}{$_} = 1 for @names;
		}
	}
	return $self;
}

# Returns the complaints about a header with @features: what is missing, and what nobody knows.
# @members: names of the members, in order, by type.
sub complaints
{
	my ($self, $features, $members) = @_;
	my @found;

	push @found, map { "type '$_' is missing" }
		grep { !$features->{"T_$_"} } sort keys %{$self->{type}};
	push @found, map { "function '$_' is missing, or is not exported" }
		grep { !$features->{"F_$_"} } sort keys %{$self->{function}};
	push @found, map { "enumerator '$_' is missing" }
		grep { !$features->{"E_$_"} } sort keys %{$self->{value}};
	for my $type (sort keys %{$self->{member}}) {
		next unless $members->{$type};
		push @found, map { "'$type' has no member '$_'" }
			grep { !$features->{"M_${type}__$_"} } sort keys %{$self->{member}{$type}};
	}
	for my $type (sort keys %{$self->{known}}) {
		push @found, map { "'$type' has a member '$_' that nobody knows here; " .
				   "find out what it wants and add it to $self->{file}" }
			grep { !$self->{known}{$type}{$_} } @{$members->{$type} // []};
	}
	return @found;
}

1;
