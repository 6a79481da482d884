# SPDX-License-Identifier: GPL-2.0-only
#
# Tables of what demo-guest/compare.sh printed: for each workload the median figures of each
# configuration, and the median of the ratios to the in-tree pair taken round by round.

function median(list, n,	i, j, t)
{
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
			t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
		}
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

# figure 1 to 4: IOPS, p50, p99, p99.9
function med(w, c, f,	n, list)
{
	for (n = 1; n <= rounds; n++)
		list[n] = value[w, c, n, f]
	return median(list, rounds)
}

function ratio(w, c, f,	n, list, base)
{
	for (n = 1; n <= rounds; n++) {
		base = value[w, "in-tree", n, f]
		list[n] = base ? value[w, c, n, f] / base : 0
	}
	return median(list, rounds)
}

$1 == "run" {
	if (!(($2) in seen)) { seen[$2] = 1; workload[++workloads] = $2 }
	for (f = 1; f <= 4; f++)
		value[$2, $3, $4, f] = $(4 + f)
}
$1 == "count" { counts[++nr_counts] = $0 }
$1 == "latency-begin" { keep = 1; next }
$1 == "latency-end" { keep = 0 }
keep { latency = latency "  " $0 "\n" }

END {
	configurations = split("adaptive busy in-tree", configuration, " ")
	if (what == "")
		what = "pair"
	printf "Medians of %d interleaved rounds; in brackets the median ratio to the in-tree %s of the same round\n",
		rounds, what
	printf "(IOPS: above 1 is better; latencies in microseconds: below 1 is better)\n\n"
	printf "  %-15s %-9s %15s %15s %15s %15s\n", "workload", what, "IOPS", "p50", "p99", "p99.9"
	for (i = 1; i <= workloads; i++) {
		w = workload[i]
		for (j = 1; j <= configurations; j++) {
			c = configuration[j]
			printf "  %-15s %-9s", j == 1 ? w : "", c
			for (f = 1; f <= 4; f++)
				printf c == "in-tree" ? " %8d       " : " %8d (%4.2f)", med(w, c, f), ratio(w, c, f)
			printf "\n"
		}
	}
	if (nr_counts) {
		printf "\nExact work of our pair for each 4 KiB I/O, busy:\n\n"
		for (i = 1; i <= nr_counts; i++) {
			split(counts[i], p, " ")
			printf "  %-6s %-32s %s\n", p[2], p[3], p[4]
		}
	}
	if (latency != "")
		printf "\nWhere the target's time went, stage by stage:\n\n%s", latency
}
