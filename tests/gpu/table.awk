# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Reads, for each workload and count of ranks, "workload NAME RANKS LINK_RATE HBM_RATE", "roofline SHAPE FLOP HBM_BYTES
# LINK_BYTES", "ours PROGRAM", then "SHAPE PROGRAM SAMPLE…" with two samples of each program a round. Prints the fastest
# of ours at each shape, or with all=1 each of them. Speed-ups are over the fastest host-driven program of the same job.

function take(key, values,    i) {
    for (i = 1; i <= samples[key, 0]; ++i)
        values[i] = samples[key, i]
    return samples[key, 0]
}
function row(shape, name, host,    above, below, count, bound) {
    bound = time[shape, "compute_alone"]
    if (hbm_rate > 0 && hbm[shape] / hbm_rate * 1e6 > bound) bound = hbm[shape] / hbm_rate * 1e6
    if (link_rate > 0 && link[shape] / link_rate * 1e6 > bound) bound = link[shape] / link_rate * 1e6
    count = take(shape SUBSEP host, above)
    take(shape SUBSEP name, below)
    interval(above, below, count)
    printf "%-15s %-14s %5d  %-18s %9.1f  %-27s %9.1f  %5.2f (%.2f-%.2f) %9.1f %5.0f %9.1f %6.2f\n", workload, shape, ranks,
        host, time[shape, host], name, time[shape, name], time[shape, host] / time[shape, name], low, high, bound,
        100 * bound / time[shape, name],
        (time[shape, name] > time[shape, "compute_alone"] ? time[shape, name] - time[shape, "compute_alone"] : 0),
        time[shape, "host"] / time[shape, name]
}
function finish(    s, p, shape, name, host, best) {
    for (s = 1; s <= shape_count; ++s) {
        shape = shape_at[s]
        host = best = ""
        for (p = 1; p <= program_count; ++p) {
            name = program_at[p]
            if (!((shape, name) in time) || name == "compute_alone")
                continue
            if (name in ours) {
                if (best == "" || time[shape, name] < time[shape, best]) best = name
            } else if (host == "" || time[shape, name] < time[shape, host])
                host = name
        }
        if (host == "" || best == "")
            continue
        for (p = 1; p <= program_count; ++p) {
            name = program_at[p]
            if ((name in ours) && ((shape, name) in time) && (all || name == best))
                row(shape, name, host)
        }
    }
    shape_count = program_count = 0
    delete ours; delete time; delete samples; delete known; delete hbm; delete link
}
BEGIN {
    srand(1)
    printf "%-15s %-14s %5s  %-18s %9s  %-27s %9s  %17s %9s %5s %9s %6s\n", "workload", "shape", "ranks", "host best",
        "µs", "ours", "µs", "speed-up", "bound", "% of", "exposed", "× host"
}
$1 == "workload" { finish(); workload = $2; ranks = $3; link_rate = $4; hbm_rate = $5; next }
$1 == "roofline" { hbm[$2] = $4; link[$2] = $5; next }
$1 == "ours" { ours[$2] = 1; next }
{
    if (!(("shape", $1) in known)) { known["shape", $1] = 1; shape_at[++shape_count] = $1 }
    if (!(("program", $2) in known)) { known["program", $2] = 1; program_at[++program_count] = $2 }
    samples[$1, $2, 0] = NF - 2
    for (i = 3; i <= NF; ++i)
        values[i - 2] = samples[$1, $2, i - 2] = $i
    time[$1, $2] = median(values, NF - 2)
}
END { finish() }
