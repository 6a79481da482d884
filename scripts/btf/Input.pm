# SPDX-License-Identifier: GPL-2.0-only
#
# Gets sections out of whatever holds a kernel's or a module's BTF: a raw BTF file such as
# /sys/kernel/btf/vmlinux, an ELF file, a compressed module, or an x86 kernel image.
package btf::Input;
use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use File::Temp ();

our @EXPORT_OK = qw(open_image section slurp);

# First bytes of a compressed file => command that expands it from stdin to stdout.
my @EXPANDERS = (
	["\xfd7zXZ\0", 'xz -dc --single-stream'],
	["\x28\xb5\x2f\xfd", 'zstd -dc'],
	["\x1f\x8b", 'gzip -dc'],
);

# Offsets in the x86 boot protocol's header (Documentation/arch/x86/boot.rst).
use constant {
	BOOT_SETUP_SECTS => 0x1f1,
	BOOT_MAGIC => 0x202,
	BOOT_PAYLOAD_OFFSET => 0x248,
};

sub slurp
{
	my ($file) = @_;

	open my $in, '<:raw', $file or die "$file: $!\n";
	local $/;
	my $data = <$in>;
	die "$file: empty\n" unless length $data;
	return $data;
}

# Expands @data if it is compressed. A kernel image has more bytes behind its compressed part, at
# which some tools complain: what counts is whether something came out.
sub expand
{
	my ($file, $data) = @_;

	for (@EXPANDERS) {
		my ($magic, $command) = @$_;

		next unless substr($data, 0, length $magic) eq $magic;
		my $copy = File::Temp->new;
		binmode $copy;
		print $copy $data;
		close $copy or die "$copy: $!\n";
		my $pid = open my $out, '-|:raw', "$command <'$copy' 2>/dev/null";
		die "$command: $!\n" unless $pid;
		local $/;
		my $plain = <$out>;
		close $out;
		my ($tool) = split ' ', $command;
		die "$file: could not be expanded; is '$tool' installed?\n" unless length $plain;
		return $plain;
	}
	return $data;
}

# Returns the file's contents, expanded: an ELF file or raw BTF.
sub open_image
{
	my ($file) = @_;
	my $data = expand($file, slurp($file));

	if (length $data > BOOT_PAYLOAD_OFFSET + 8 && substr($data, BOOT_MAGIC, 4) eq 'HdrS') {
		my $sectors = unpack 'C', substr $data, BOOT_SETUP_SECTS, 1;
		my ($offset, $length) = unpack 'V2', substr $data, BOOT_PAYLOAD_OFFSET, 8;

		$data = expand($file, substr $data, ($sectors + 1) * 512 + $offset, $length);
	}
	return $data;
}

# Returns the contents of one section of an image from open_image(), undef if it has none.
sub section
{
	my ($file, $data, $wanted) = @_;

	return $wanted eq '.BTF' ? $data : undef if substr($data, 0, 2) eq "\x9f\xeb";
	die "$file: neither BTF, nor ELF, nor a kernel image\n" if substr($data, 0, 4) ne "\x7fELF";
	die "$file: only 64-bit little-endian files are supported\n"
		if substr($data, 4, 2) ne "\x02\x01";

	my $table = unpack 'Q<', substr $data, 0x28, 8;
	my ($entry_size, $count, $names_index) = unpack 'v3', substr $data, 0x3a, 6;
	my @sections = map {
		my ($name, undef, undef, undef, $offset, $size) =
			unpack 'V2 Q<4', substr $data, $table + $_ * $entry_size, 40;
		{ name => $name, offset => $offset, size => $size }
	} 0 .. $count - 1;
	my $names = substr $data, $sections[$names_index]{offset}, $sections[$names_index]{size};

	for my $s (@sections) {
		next if unpack('Z*', substr $names, $s->{name}) ne $wanted;
		return substr $data, $s->{offset}, $s->{size};
	}
	return undef;
}

1;
