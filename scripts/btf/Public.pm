# SPDX-License-Identifier: GPL-2.0-only
#
# Finds out what the public headers define, from their preprocessed text: what they have must not be
# defined again. This is no C parser; it relies on the plain style of kernel headers.
package btf::Public;
use strict;
use warnings FATAL => 'all';
use btf::Input qw(slurp);

# __attribute__((...)), with up to three levels of parentheses.
my $ATTRIBUTES = qr/(?:\s*__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\))*/;

# Returns a hash of sets: tags ("struct x"), values (of enums), typedefs, functions named /^$match/.
sub scan
{
	my ($file, $match) = @_;
	my $text = slurp($file);
	my %tags = ();
	my %values = ();
	my %functions = ();

	$text =~ s/^#.*$//mg;
	$tags{"$1 $2"} = 1
		while $text =~ /\b(struct|union|enum)\b$ATTRIBUTES\s+(\w+)$ATTRIBUTES\s*\{/g;
	while ($text =~ /\benum\b$ATTRIBUTES\s*(?:\w+)?$ATTRIBUTES\s*(?::\s*\w+\s*)?\{([^}]*)\}/g) {
		for my $value (split /,/, $1) {
			$values{$1} = 1 if $value =~ /^\s*(\w+)/;
		}
	}
	$functions{$1} = 1 while $text =~ /\b($match\w*)\s*\(/g;
	return {
		tags => \%tags,
		values => \%values,
		typedefs => typedefs($text),
		functions => \%functions,
	};
}

sub typedefs
{
	my ($text) = @_;
	my %typedefs = ();

	while ($text =~ /\btypedef\b/g) {
		my $start = pos $text;
		my $end = statement_end(\$text, $start);
		my $body = substr $text, $start, $end - $start;

		1 while $body =~ s/\{[^{}]*\}/ /;
		$body =~ s/$ATTRIBUTES\s*$//;
		$typedefs{$1} = 1
			if $body =~ /\(\s*\*\s*(\w+)\s*\)\s*\(/		# pointer to a function
			|| $body =~ /(\w+)\s*(?:\[[^\]]*\]\s*)*$/	# plain, or array
			|| $body =~ /(\w+)\s*\([^()]*\)\s*$/;		# function
		pos($text) = $end;
	}
	return \%typedefs;
}

# Position of the semicolon that ends the statement at @start: the first one outside of braces.
sub statement_end
{
	my ($text, $start) = @_;
	my $depth = 0;

	pos($$text) = $start;
	while ($$text =~ /([{};])/g) {
		if ($1 eq '{') {
			$depth++;
		} elsif ($1 eq '}') {
			$depth--;
		} elsif ($depth == 0) {
			return pos($$text) - 1;
		}
	}
	return length $$text;
}

1;
