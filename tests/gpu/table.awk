# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Reads "candidate NAME LINK_RATE", then lines "SHAPE PROGRAM SAMPLE…" of that candidate's job: two samples of each
# program a round. Prints the best candidate of each shape, or with all=1 every one. Speed-ups are over the strongest
# baseline of the same job, with 95 % bootstrap intervals over rounds.

# take(KEY, VALUES): the samples under that key, and how many.
function take(key, values,    count, i) {
    count = samples[key, 0]
    for (i = 1; i <= count; ++i)
        values[i] = samples[key, i]
    return count
}
BEGIN { srand(1) }
$1 == "candidate" { candidate = $2; link_rate[candidate] = $3; next }
{
    key = candidate SUBSEP $1 SUBSEP $2
    samples[key, 0] = NF - 2
    for (i = 3; i <= NF; ++i)
        samples[key, i - 2] = $i
    time[key] = median_of($0)
    if (!($1 in shapes)) { shapes[$1] = ++shape_count; shape_at[shape_count] = $1 }
    if ($2 == candidate)
        candidates[$1] = candidates[$1] " " candidate
    else if ($2 != "compute_alone" && (!((candidate, $1) in strongest) || time[key] < time[candidate, $1, strongest[candidate, $1]]))
        strongest[candidate, $1] = $2
}
function median_of(line,    parts, count, values, i) {
    count = split(line, parts, " ")
    for (i = 3; i <= count; ++i)
        values[i - 2] = parts[i]
    return median(values, count - 2)
}
function row(shape, name,    above, below, count, ours, host, alone, link, bound) {
    ours = time[name, shape, name]
    host = time[name, shape, strongest[name, shape]]
    alone = time[name, shape, "compute_alone"]
    link = 2 * shape * shape * (ranks - 1) / ranks / link_rate[name] * 1e6
    bound = alone > link ? alone : link
    count = take(name SUBSEP shape SUBSEP strongest[name, shape], above)
    take(name SUBSEP shape SUBSEP name, below)
    interval(above, below, count)
    printf "%-15s %6s %5d  %-18s %8.1f  %-27s %8.1f  %5.2f (%.2f-%.2f) %8.1f %5.0f %8.1f %6.2f\n", "gemm_allgather", shape,
        ranks, strongest[name, shape], host, name, ours, host / ours, low, high, bound, 100 * bound / ours,
        (ours > alone ? ours - alone : 0), time[name, shape, "host"] / ours
}
END {
    printf "%-15s %6s %5s  %-18s %8s  %-27s %8s  %17s %8s %5s %8s %6s\n", "workload", "shape", "ranks", "host best",
        "µs", "ours", "µs", "speed-up", "bound", "% of", "exposed", "× host"
    for (s = 1; s <= shape_count; ++s) {
        shape = shape_at[s]
        count = split(candidates[shape], names, " ")
        best = names[1]
        for (i = 1; i <= count; ++i) {
            if (all)
                row(shape, names[i])
            if (time[names[i], shape, names[i]] < time[best, shape, best])
                best = names[i]
        }
        if (!all)
            row(shape, best)
    }
}
