# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Reads lines "SHAPE PROGRAM SAMPLE…" in pairs, of one program run twice in one job, two samples a round: each pair is a
# trial, and the 95 % interval of its ratio should contain 1.

BEGIN { srand(1) }
{
    for (i = 3; i <= NF; ++i) {
        if ($2 == "host")
            a[i - 2] = $i
        else
            b[i - 2] = $i
    }
    shape = $1
    sub(/_.*/, "", shape)
    if (held != $1) { held = $1; next }
    held = ""
    count = NF - 2
    if (!(shape in trials)) shape_at[++shape_count] = shape
    n = ++trials[shape]
    interval(a, b, count)
    contains[shape] += low <= 1 && high >= 1
    half_width[shape, n] = 50 * (high - low)
    time_us[shape, n] = median(a, count)
    off[shape, n] = 100 * (median(a, count) / median(b, count) - 1)
}
END {
    printf "%6s %5s %7s %9s %12s %15s %15s %14s\n", "shape", "ranks", "trials", "µs", "1 inside", "half width %",
        "widest of 95 %", "median off %"
    for (s = 1; s <= shape_count; ++s) {
        shape = shape_at[s]
        for (i = 1; i <= trials[shape]; ++i) {
            w[i] = half_width[shape, i]
            t[i] = time_us[shape, i]
            o[i] = off[shape, i] < 0 ? -off[shape, i] : off[shape, i]
        }
        sorted(w, trials[shape], order)
        printf "%6s %5d %7d %9.1f %12d %15.2f %15.2f %14.2f\n", shape, ranks, trials[shape], median(t, trials[shape]),
            contains[shape], median(w, trials[shape]), order[int(0.95 * trials[shape] + 0.5)], median(o, trials[shape])
    }
}
