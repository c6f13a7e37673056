# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Reads lines "SHAPE PROGRAM BURST SAMPLE…" in pairs, of one program run twice in one job, two samples a round: each pair is
# a trial, and the 95 % interval of its ratio should contain 1, by rounds alone and as the product widens it.

BEGIN {
    srand(1)
    # core/evaluation/statistics.h
    between_processes_us = 2
}
function logarithmic(x, y) { return sqrt(log(x) ^ 2 + y ^ 2) }
# hold KIND: what became of a trial, by rounds alone or with processes.
function hold(kind, n) {
    contains[kind, shape] += low <= 1 && high >= 1
    half_width[kind, shape, n] = 50 * (high - low)
}
{
    for (i = 4; i <= NF; ++i) {
        if ($2 == "host")
            a[i - 3] = $i
        else
            b[i - 3] = $i
    }
    shape = $1
    sub(/_.*/, "", shape)
    if (held != $1) { held = $1; next }
    held = ""
    count = NF - 3
    if (!(shape in trials)) shape_at[++shape_count] = shape
    n = ++trials[shape]
    ++ended[shape, count / 2]
    interval(a, b, count)
    hold("rounds", n)
    value = median(a, count) / median(b, count)
    unseen = 1.959964 * between_processes_us / ($3 * median(a, count))
    low = value * exp(-logarithmic(low / value, unseen))
    high = value * exp(logarithmic(high / value, unseen))
    hold("processes", n)
    time_us[shape, n] = median(a, count)
    off[shape, n] = 100 * (value - 1)
}
# columns KIND: of the shape at hand.
function columns(kind,    i) {
    for (i = 1; i <= trials[shape]; ++i)
        w[i] = half_width[kind, shape, i]
    sorted(w, trials[shape], order)
    return sprintf("%10d %14.2f %11.2f", contains[kind, shape], median(w, trials[shape]), order[int(0.95 * trials[shape] + 0.5)])
}
END {
    printf "%36s %-37s %s\n", "", "by rounds alone", "with 2 µs a stretch for processes"
    printf "%6s %5s %7s %9s %15s %14s %11s %10s %14s %11s %14s  %s\n", "shape", "ranks", "trials", "µs", "1 inside",
        "half width %", "95 % below", "1 inside", "half width %", "95 % below", "median off %", "rounds 6 / 8 / 10 / 12"
    for (s = 1; s <= shape_count; ++s) {
        shape = shape_at[s]
        for (i = 1; i <= trials[shape]; ++i) {
            t[i] = time_us[shape, i]
            o[i] = off[shape, i] < 0 ? -off[shape, i] : off[shape, i]
        }
        printf "%6s %5d %7d %8.1f      %s %s %14.2f  %d / %d / %d / %d\n", shape, ranks, trials[shape], median(t, trials[shape]),
            columns("rounds"), columns("processes"), median(o, trials[shape]), ended[shape, 6], ended[shape, 8],
            ended[shape, 10], ended[shape, 12]
    }
}
