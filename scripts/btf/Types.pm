# SPDX-License-Identifier: GPL-2.0-only
#
# Reads BTF (Documentation/bpf/btf.rst). One object is one BTF section; that of a module is "split":
# its type ids and string offsets go on where those of its base, the kernel's BTF, end.
#
# A type is a hash: {kind, name, id, btf} and, by kind, {size}, {ref} (id of the type it refers to),
# {members}, {values}, {elem, count}, {params}, {is_union}. Types are decoded when asked for: the
# kernel has 150 000 of them and a few hundred matter here.
package btf::Types;
use strict;
use warnings FATAL => 'all';
use integer;
use Exporter 'import';
use btf::Input qw(open_image section);

our @EXPORT_OK = qw(unqualified resolved VOID INT PTR ARRAY STRUCT UNION ENUM FWD TYPEDEF VOLATILE
	CONST RESTRICT FUNC FUNC_PROTO VAR DATASEC FLOAT DECL_TAG TYPE_TAG ENUM64);
our %EXPORT_TAGS = (kinds => [grep { /^[A-Z]/ } @EXPORT_OK]);

use constant {
	MAGIC => 0xeb9f,
	VOID => 0, INT => 1, PTR => 2, ARRAY => 3, STRUCT => 4, UNION => 5, ENUM => 6, FWD => 7,
	TYPEDEF => 8, VOLATILE => 9, CONST => 10, RESTRICT => 11, FUNC => 12, FUNC_PROTO => 13,
	VAR => 14, DATASEC => 15, FLOAT => 16, DECL_TAG => 17, TYPE_TAG => 18, ENUM64 => 19,
};

# Bytes behind the 12-byte record of a type: a fixed part, and a part per element.
my %EXTRA = (INT, 4, ARRAY, 12, VAR, 4, DECL_TAG, 4);
my %EXTRA_EACH = (STRUCT, 12, UNION, 12, ENUM, 8, FUNC_PROTO, 8, DATASEC, 12, ENUM64, 12);

# Loads the BTF of @file. With @base it is the split BTF of a module. A module built outside of the
# kernel's tree may carry its own, distilled base.
sub load
{
	my ($class, $file, $base) = @_;
	my $image = open_image($file);
	my $data = section($file, $image, '.BTF');

	die "$file: it has no .BTF section, so nothing is known of its types.\n" .
	    "  The kernel must be built with CONFIG_DEBUG_INFO_BTF" .
	    ($base ? "_MODULES" : "") . ".\n" unless defined $data;
	if ($base) {
		my $distilled = section($file, $image, '.BTF.base');

		$base = $class->parse("$file (.BTF.base)", $distilled) if defined $distilled;
	}
	my $self = $class->parse($file, $data, $base);
	$self->{modinfo} = section($file, $image, '.modinfo');
	return $self;
}

# Finds where each type starts; decoding comes later.
sub parse
{
	my ($class, $file, $data, $base) = @_;
	my ($magic, undef, undef, $header, $type_off, $type_len, $str_off, $str_len) =
		unpack 'v C C V5', $data;

	die "$file: its .BTF section does not start as BTF does\n" if $magic != MAGIC;
	die "$file: its .BTF section is cut short\n"
		if $header + $str_off + $str_len > length $data
		|| $header + $type_off + $type_len > length $data;

	my $self = bless {
		file => $file,
		base => $base,
		types => substr($data, $header + $type_off, $type_len),
		strings => substr($data, $header + $str_off, $str_len),
		first_id => $base ? $base->{end_id} : 1,
		first_str => $base ? length $base->{strings} : 0,
		cache => {},
	}, $class;

	my @offsets;
	for (my $pos = 0; $pos < $type_len;) {
		my $info = unpack 'V', substr $self->{types}, $pos + 4, 4;
		my $kind = $info >> 24 & 0x1f;

		die "$file: type ", $self->{first_id} + @offsets, " is of an unknown kind ($kind)\n"
			if $kind == VOID || $kind > ENUM64;
		push @offsets, $pos;
		$pos += 12 + ($EXTRA{$kind} // 0) + ($info & 0xffff) * ($EXTRA_EACH{$kind} // 0);
	}
	$self->{offsets} = \@offsets;
	$self->{end_id} = $self->{first_id} + @offsets;
	return $self;
}

# String at @offset. Offsets into a base of another build point into the middle of its strings:
# this is how a module and a kernel that do not belong together are noticed.
sub string
{
	my ($self, $offset) = @_;
	my $owner = $self;

	if ($self->{base}) {
		if ($offset < $self->{first_str}) {
			$owner = $self->{base};
		} else {
			$offset -= $self->{first_str};
		}
	}
	die "$self->{file}: its BTF does not belong to the kernel BTF of ",
	    ($self->{base} // $self)->{file}, ".\n",
	    "  Module and kernel must come from the same build.\n"
		if $offset >= length $owner->{strings} ||
		   ($offset && substr($owner->{strings}, $offset - 1, 1) ne "\0");
	return unpack 'Z*', substr $owner->{strings}, $offset, 512;
}

# Type with @id, decoded.
sub type
{
	my ($self, $id) = @_;

	return { kind => VOID, name => 'void', id => 0, btf => $self } unless $id;
	return $self->{cache}{$id} //= $self->decode($id);
}

# Decodes the record of a type, which is: name, info (element count, kind, flag), size or reference.
sub decode
{
	my ($self, $id) = @_;
	my $owner = $self->{base} && $id < $self->{first_id} ? $self->{base} : $self;
	my $pos = $owner->{offsets}[$id - $owner->{first_id}];

	die "$self->{file}: no type has the number $id; its BTF does not belong to that of ",
	    ($self->{base} // $self)->{file}, "\n" unless defined $pos;

	my ($name, $info, $size) = unpack 'V3', substr $owner->{types}, $pos, 12;
	my ($count, $kind, $flag) = ($info & 0xffff, $info >> 24 & 0x1f, $info >> 31 & 1);
	my $type = {
		id => $id, btf => $self, kind => $kind, size => $size, ref => $size,
		name => $name ? $self->string($name) : '',
	};
	my $words = sub { unpack 'V' . $_[0], substr $owner->{types}, $pos + 12, 4 * $_[0] };

	if ($kind == STRUCT || $kind == UNION) {
		my @words = $words->(3 * $count);

		$type->{is_union} = $kind == UNION;
		$type->{members} = [];
		while (my ($member, $of, $offset) = splice @words, 0, 3) {
			push @{$type->{members}}, {
				name => $member ? $self->string($member) : '',
				type => $of,
				# In bits. With the flag set, the top byte is a bit field's width.
				offset => $flag ? $offset & 0xffffff : $offset,
				bits => $flag ? $offset >> 24 : 0,
			};
		}
	} elsif ($kind == ENUM) {
		my @words = $words->(2 * $count);

		$type->{values} = [];
		while (my ($value, $number) = splice @words, 0, 2) {
			$number = unpack 'l', pack 'L', $number if $flag;
			push @{$type->{values}}, [$self->string($value), $number];
		}
	} elsif ($kind == ENUM64) {
		my @words = $words->(3 * $count);

		$type->{values} = [];
		while (my ($value, $low, $high) = splice @words, 0, 3) {
			push @{$type->{values}}, [$self->string($value), $high << 32 | $low];
		}
	} elsif ($kind == ARRAY) {
		($type->{elem}, undef, $type->{count}) = $words->(3);
	} elsif ($kind == FUNC_PROTO) {
		my @words = $words->(2 * $count);

		$type->{params} = [];
		while (my ($param, $of) = splice @words, 0, 2) {
			push @{$type->{params}}, {
				name => $param ? $self->string($param) : '', type => $of,
			};
		}
	} elsif ($kind == FWD) {
		$type->{is_union} = $flag;
	}
	return $type;
}

# All types of this section itself, without those of its base.
sub own_types
{
	my ($self) = @_;

	return map { $self->type($_) } $self->{first_id} .. $self->{end_id} - 1;
}

# The type behind const, volatile, restrict and tags, and these qualifiers as C text.
sub unqualified
{
	my ($btf, $id) = @_;
	my $type = $btf->type($id);
	my $qualifiers = '';

	while (grep { $type->{kind} == $_ } CONST, VOLATILE, RESTRICT, TYPE_TAG) {
		$qualifiers .= 'const ' if $type->{kind} == CONST;
		$qualifiers .= 'volatile ' if $type->{kind} == VOLATILE;
		$type = $btf->type($type->{ref});
	}
	return ($type, $qualifiers);
}

# The type behind qualifiers and typedefs.
sub resolved
{
	my ($btf, $id) = @_;
	my ($type) = unqualified($btf, $id);

	($type) = unqualified($btf, $type->{ref}) while $type->{kind} == TYPEDEF;
	return $type;
}

1;
