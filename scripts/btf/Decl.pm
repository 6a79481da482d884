# SPDX-License-Identifier: GPL-2.0-only
#
# Writes BTF types as C: declarations, and structure bodies whose layout is the one BTF states. BTF
# has sizes and offsets but no alignment or packed attributes: what the natural layout does not
# explain becomes an attribute or explicit padding.
package btf::Decl;
use strict;
use warnings FATAL => 'all';
use integer;
use Exporter 'import';
use btf::Types qw(:kinds unqualified resolved);

our @EXPORT_OK = qw(tag declare definition);

my $PACKED = ' __attribute__((packed))';
my $pads = 0;	# names of padding members

sub tag
{
	my ($type) = @_;
	my $kind = $type->{kind};

	return 'enum' if $kind == ENUM || $kind == ENUM64;
	return $type->{is_union} ? 'union' : 'struct';
}

# Declaration of @name (which may be empty) with the type @id, in C's inside-out way.
# @open_array: an array without a size may be written [], not [0].
sub declare
{
	my ($btf, $id, $name, $indent, $open_array) = @_;
	my ($type, $qualifiers) = unqualified($btf, $id);
	my $kind = $type->{kind};

	if ($kind == PTR) {
		my ($to) = unqualified($btf, $type->{ref});
		my $inner = '*' . $qualifiers . $name;

		$inner = "($inner)" if grep { $to->{kind} == $_ } ARRAY, FUNC_PROTO;
		return declare($btf, $type->{ref}, $inner, $indent);
	}
	if ($kind == ARRAY) {
		my $count = $type->{count} || ($open_array ? '' : 0);

		return $qualifiers . declare($btf, $type->{elem}, $name . "[$count]", $indent);
	}
	if ($kind == FUNC_PROTO) {
		my @params = map {
			$_->{type} ? declare($btf, $_->{type}, $_->{name}, $indent) : '...'
		} @{$type->{params}};

		@params = ('void') unless @params;
		$name .= '(' . join(', ', @params) . ')';
		return declare($btf, $type->{ref}, $name, $indent);
	}

	my $text;
	if (grep { $kind == $_ } VOID, INT, FLOAT, TYPEDEF) {
		$text = $type->{name};
	} elsif (length $type->{name}) {
		$text = tag($type) . ' ' . $type->{name};
	} elsif ($type->{values}) {
		$text = integer_like($type);
	} else {
		$text = definition($type, $indent);
	}
	return $qualifiers . $text . (length $name ? " $name" : '');
}

# An enum without a name is written where it is first seen, so that its enumerators are there once;
# what has its type is an integer of the same kind.
sub integer_like
{
	my ($type) = @_;
	my %names = (1 => 'char', 2 => 'short', 4 => 'int', 8 => 'long long');
	my $negative = grep { $_->[1] < 0 } @{$type->{values}};

	return ($negative ? 'signed ' : 'unsigned ') . $names{$type->{size}};
}

# "struct name { members }" with its attributes.
sub definition
{
	my ($type, $indent) = @_;
	my ($members, $attributes) = body($type, "$indent\t");
	my $name = length $type->{name} ? " $type->{name}" : '';

	return tag($type) . "$name {\n$members$indent}$attributes";
}

# Text of the members and the attributes of a structure or union.
sub body
{
	my ($type, $indent) = @_;
	my $packed = is_packed($type);
	my @members = @{$type->{members}};
	my $text = '';
	my $end = 0;	# bit behind what has been written

	for my $member (@members) {
		my $btf = $type->{btf};
		my $width = $member->{bits} || 8 * size($btf, $member->{type});
		# C allows [] only for the last member, and not for the only one.
		my $open = !$type->{is_union} && length $type->{name} && @members > 1 &&
			$member == $members[-1];

		if ($type->{is_union}) {
			$end = $width if $width > $end;
		} else {
			my $align = $packed ? 1 : alignment($btf, $member->{type});
			my $step = $member->{bits} ? 1 : 8 * $align;

			$text .= padding($end, $member->{offset}, $indent)
				if $member->{offset} != round_up($end, $step);
			$end = $member->{offset} + $width;
		}
		$text .= $indent . declare($btf, $member->{type}, $member->{name}, $indent, $open);
		$text .= " : $member->{bits}" if $member->{bits};
		$text .= ";\n";
	}
	my ($tail, $attributes) = tail($type, $end, $packed, $indent);
	return ($text . $tail, $attributes);
}

# Members that fill the bits from @from to @to: single bits up to a byte, bytes, single bits.
sub padding
{
	my ($from, $to, $indent) = @_;
	my $text = '';

	if ($from % 8) {
		my $bits = 8 - $from % 8;

		$bits = $to - $from if $bits > $to - $from;
		$text .= "${indent}unsigned char : $bits;\n";
		$from += $bits;
	}
	$text .= pad_bytes(($to - $from) / 8, $indent) if $to - $from >= 8;
	$text .= "${indent}unsigned char : " . ($to - $from) % 8 . ";\n" if ($to - $from) % 8;
	return $text;
}

sub pad_bytes
{
	my ($bytes, $indent) = @_;

	return "${indent}unsigned char __pad" . $pads++ . "[$bytes];\n";
}

# What makes the structure as large as BTF says, when its members end at bit @end: an alignment
# that explains the size, else bytes. Returns members and attributes.
sub tail
{
	my ($type, $end, $packed, $indent) = @_;
	my $used = round_up($end, 8) / 8;
	my $natural = $packed ? 1 : members_alignment($type);

	return ('', $packed ? $PACKED : '') if $type->{size} == round_up($used, $natural);
	unless ($packed) {
		for my $align (2, 4, 8, 16, 32, 64, 128, 256) {
			return ('', " __attribute__((aligned($align)))")
				if $align > $natural && round_up($used, $align) == $type->{size};
		}
	}
	return (pad_bytes($type->{is_union} ? $type->{size} : $type->{size} - $used, $indent),
		$packed ? $PACKED : '');
}

sub round_up
{
	my ($value, $step) = @_;

	return ($value + $step - 1) / $step * $step;
}

sub size
{
	my ($btf, $id) = @_;
	my $type = resolved($btf, $id);

	return 8 if $type->{kind} == PTR;
	return $type->{count} * size($btf, $type->{elem}) if $type->{kind} == ARRAY;
	return $type->{size};
}

sub alignment
{
	my ($btf, $id) = @_;
	my $type = resolved($btf, $id);

	return 8 if $type->{kind} == PTR;
	return alignment($btf, $type->{elem}) if $type->{kind} == ARRAY;
	return is_packed($type) ? 1 : members_alignment($type) if $type->{members};
	return $type->{size} || 1;
}

# Largest alignment that a member asks for by nature.
sub members_alignment
{
	my ($type) = @_;

	return $type->{alignment} //= do {
		my $largest = 1;

		for my $member (@{$type->{members}}) {
			my $align = alignment($type->{btf}, $member->{type});

			$largest = $align if $align > $largest;
		}
		$largest;
	};
}

# A member at an odd place, or an odd size, gives a packed structure away.
sub is_packed
{
	my ($type) = @_;

	return $type->{packed} //= do {
		my $odd = $type->{size} % members_alignment($type) != 0;

		for my $member (grep { !$_->{bits} } @{$type->{members}}) {
			my $align = alignment($type->{btf}, $member->{type});

			$odd = 1 if $member->{offset} % (8 * $align);
		}
		$odd ? 1 : 0;
	};
}

1;
