# SPDX-License-Identifier: GPL-2.0-only
#
# Selects the types for the header and puts them into an order that compiles.
#
# In the header goes what the prototypes of the exported functions, and the types that were asked
# for, reach: by value whatever it is, by pointer only what is private (its name matches). What the
# public headers define is left out; where it is used by value, its size is checked.
package btf::Header;
use strict;
use warnings FATAL => 'all';
use integer;
use btf::Types qw(:kinds unqualified);
use btf::Decl qw(tag declare definition);

# @public: from btf::Public. @private: regular expression that names of private types match.
# @opaque: set of names of types, or of first enumerators, to leave out.
sub new
{
	my ($class, %args) = @_;

	return bless {
		%args,
		done => {},		# what has been written: "struct x" => its type
		in_work => {},
		waiting => [],		# types reached by pointer, to be written at the end
		forwards => {},
		text => [],
		prototypes => [],
		asserts => [],
		public_sizes => {},
		features => {},
		members => {},		# by type name: names of all members
	}, $class;
}

# Takes the prototypes of the functions of @btf that are in the set @exported, and all its private
# enums.
sub add_module
{
	my ($self, $btf, $exported) = @_;
	my %seen;

	for my $type ($btf->own_types) {
		if ($type->{values}) {
			my $first = $type->{values}[0];

			$self->add_enum($type) if $first && $first->[0] =~ /$self->{private}/i;
		} elsif ($type->{kind} == FUNC) {
			next if !$exported->{$type->{name}} || $seen{$type->{name}}++;
			$self->add_function($btf, $type);
		}
	}
}

sub add_function
{
	my ($self, $btf, $function) = @_;
	my $name = $function->{name};
	my $proto = $btf->type($function->{ref});

	$self->reach($btf, $function->{ref}, 0);
	$self->{features}{"F_$name"} = 1;
	$self->{features}{"NARGS_$name"} = @{$proto->{params}};
	$self->{features}{"VOID_$name"} = 1 unless $proto->{ref};
	push @{$self->{prototypes}}, 'extern ' . declare($btf, $function->{ref}, $name, '') . ";\n"
		unless $self->{public}{functions}{$name};
}

# Exported data has no BTF: that it exists is all that can be told.
sub add_data
{
	my ($self, @names) = @_;

	$self->{features}{"V_$_"} = 1 for @names;
}

# Writes the types named in the set @wanted, and those reached by pointer; call when all modules
# have been added. Then holds every copy of a type against the one that was written.
sub finish
{
	my ($self, $wanted, @btfs) = @_;
	my @private = grep {
		$_->{members} && ($_->{name} =~ /$self->{private}/ || $wanted->{$_->{name}})
	} map { $_->own_types } @btfs;

	for my $type (@private) {
		$self->add_struct($type)
			if $wanted->{$type->{name}} && !$self->{public}{tags}{full_name($type)};
	}
	while (my $type = shift @{$self->{waiting}}) {
		$self->add_struct($type);
	}
	for my $type (@private) {
		my $written = $self->{done}{full_name($type)};

		die "'", full_name($type), "' differs between $written->{btf}{file} and ",
		    "$type->{btf}{file}: the modules do not come from the same build.\n"
			if $written && layout($written) ne layout($type);
	}
	$self->{features}{"P_$_"} = 1 for keys %{$self->{public}{functions}};
}

sub full_name
{
	my ($type) = @_;

	return tag($type) . ' ' . $type->{name};
}

# Size and offsets as one string, to compare.
sub layout
{
	my ($type) = @_;

	return "$type->{size}:" . join ',', map {
		my ($of) = unqualified($type->{btf}, $_->{type});
		my $inner = $of->{members} && !length $of->{name} ? '{' . layout($of) . '}' : '';

		"$_->{name}$inner\@$_->{offset}/$_->{bits}"
	} @{$type->{members}};
}

# Sees to it that what a declaration with type @id needs is written before it.
sub reach
{
	my ($self, $btf, $id, $by_value) = @_;
	my ($type) = unqualified($btf, $id);
	my $kind = $type->{kind};

	if ($kind == PTR) {
		$self->reach($btf, $type->{ref}, 0);
	} elsif ($kind == ARRAY) {
		$self->reach($btf, $type->{elem}, $by_value);
	} elsif ($kind == FUNC_PROTO) {
		$self->reach($btf, $_, 0) for $type->{ref}, map { $_->{type} } @{$type->{params}};
	} elsif ($kind == TYPEDEF) {
		$self->reach_typedef($type, $by_value);
	} elsif ($type->{members} || $kind == FWD) {
		$self->reach_struct($type, $by_value);
	} elsif ($type->{values}) {
		$self->add_enum($type);
	}
}

sub reach_typedef
{
	my ($self, $type, $by_value) = @_;
	my $name = $type->{name};

	return if $self->{public}{typedefs}{$name};
	my $known = $self->{done}{"typedef $name"};

	$self->{done}{"typedef $name"} = $type;
	$self->reach($type->{btf}, $type->{ref}, $by_value) if $by_value || !$known;
	push @{$self->{text}}, 'typedef ' . declare($type->{btf}, $type->{ref}, $name, '') . ";\n"
		unless $known;
}

sub reach_struct
{
	my ($self, $type, $by_value) = @_;

	unless (length $type->{name}) {
		$self->reach($type->{btf}, $_->{type}, 1) for @{$type->{members}};
		return;
	}

	my $name = full_name($type);
	my $complete = $type->{kind} != FWD;

	$self->{forwards}{$name} = 1;
	if ($self->{public}{tags}{$name}) {
		$self->{public_sizes}{$name} = $type->{size} if $by_value && $complete;
	} elsif ($by_value && $complete) {
		$self->add_struct($type);
	} elsif ($complete && $type->{name} =~ /$self->{private}/ &&
		 !$self->{opaque}{$type->{name}} && !$self->{done}{$name}) {
		push @{$self->{waiting}}, $type;
	}
}

sub add_struct
{
	my ($self, $type) = @_;
	my $name = full_name($type);

	return if $self->{done}{$name} || $self->{in_work}{$name}++;
	$self->reach($type->{btf}, $_->{type}, 1) for @{$type->{members}};
	$self->{done}{$name} = $type;
	$self->{features}{"T_$type->{name}"} = 1;
	$self->{members}{$type->{name}} = [];
	push @{$self->{text}}, definition($type, '') . ";\n";
	push @{$self->{asserts}}, "POL_BTF_ASSERT(sizeof($name) == $type->{size});\n";
	$self->assert_members($type, $name, $type->{name}, 0);
}

# Asserts for the members of @type, which is part of the structure @name at bit @at.
sub assert_members
{
	my ($self, $type, $name, $short_name, $at) = @_;
	my $btf = $type->{btf};

	for my $member (@{$type->{members}}) {
		my ($of) = unqualified($btf, $member->{type});
		my $offset = $at + $member->{offset};

		unless (length $member->{name}) {
			$self->assert_members($of, $name, $short_name, $offset) if $of->{members};
			next;
		}
		$self->{features}{"M_${short_name}__$member->{name}"} = 1;
		push @{$self->{members}{$short_name}}, $member->{name};
		next if $member->{bits};
		push @{$self->{asserts}}, sprintf "POL_BTF_ASSERT(offsetof(%s, %s) == %d);\n",
			$name, $member->{name}, $offset / 8;

		# A type without a name cannot be compared with.
		while ($of->{kind} == ARRAY) {
			($of) = unqualified($btf, $of->{elem});
		}
		push @{$self->{asserts}}, "POL_BTF_TYPE($name, $member->{name}, " .
			declare($btf, $member->{type}, '', '') . ");\n"
			unless ($of->{members} || $of->{values}) && !length $of->{name};
	}
}

sub add_enum
{
	my ($self, $type) = @_;
	my @values = @{$type->{values}};

	return unless @values;
	if (length $type->{name}) {
		my $name = "enum $type->{name}";

		return if $self->{public}{tags}{$name} || $self->{done}{$name};
		$self->{done}{$name} = $type;
	}
	# One without a name is known by its first enumerator.
	my $first = $values[0][0];
	return if grep { $_->{$first} } $self->{public}{values}, $self->{done}, $self->{opaque};

	for (@values) {
		my ($value, $number) = @$_;

		$self->{done}{$value} = $type;
		$self->{features}{"E_$value"} = 1;
		push @{$self->{asserts}}, "POL_BTF_ASSERT((long long)$value == ${number}LL);\n";
	}
	push @{$self->{text}}, 'enum' . (length $type->{name} ? " $type->{name}" : '') . " {\n" .
		join('', map { "\t$_->[0] = $_->[1],\n" } @values) .
		'}' . ($type->{size} < 4 ? ' __attribute__((packed))' : '') . ";\n";
}

# The three files' contents.
sub types_text
{
	my ($self) = @_;
	my $features = $self->{features};

	return join '',
		(map { "#define BTF_$_ $features->{$_}\n" } sort keys %$features), "\n",
		(map { "$_;\n" } sort keys %{$self->{forwards}}), "\n",
		@{$self->{text}};
}

sub prototypes_text
{
	my ($self) = @_;

	return join '', @{$self->{prototypes}};
}

sub asserts_text
{
	my ($self) = @_;
	my $sizes = $self->{public_sizes};

	return join '', <<'EOT',
#define POL_BTF_ASSERT(what) _Static_assert(what, #what)
#define POL_BTF_TYPE(type, member, ...) \
	_Static_assert(__builtin_types_compatible_p(typeof(((type *)0)->member), \
						    typeof(__VA_ARGS__)), #type "." #member)
EOT
		(map { "POL_BTF_ASSERT(sizeof($_) == $sizes->{$_});\n" } sort keys %$sizes),
		@{$self->{asserts}};
}

1;
