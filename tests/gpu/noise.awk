# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Reads pairs of lines "SHAPE host SAMPLE…" and "SHAPE again SAMPLE…" of one job each, two samples a round. Every ten
# rounds are a trial: the 95 % interval of the ratio of medians should contain 1. The interval is by bootstrap over rounds,
# widened by what the previous pair of processes differed by at most.

function trial(shape, first,    i, r, chosen, x, y, ratios, order, low, high, edge, middle) {
    for (i = 1; i <= 1000; ++i) {
        for (r = 0; r < rounds; ++r) {
            chosen = first + 2 * int(rand() * rounds)
            x[2 * r + 1] = a[chosen]; x[2 * r + 2] = a[chosen + 1]
            y[2 * r + 1] = b[chosen]; y[2 * r + 2] = b[chosen + 1]
        }
        ratios[i] = median(x, 2 * rounds) / median(y, 2 * rounds)
    }
    sorted(ratios, 1000, order)
    low = order[25]
    high = order[975]
    edge = 1 - low > high - 1 ? 1 - low : high - 1
    # As an evaluation does it: widened by what another pair of processes differed by.
    if (shape in floor_of) {
        ++trials[shape]
        middle = (low + high) / 2
        inner[shape] += low <= 1 && high >= 1
        width = sqrt((high - low) * (high - low) / 4 + floor_of[shape] * floor_of[shape])
        contains[shape] += middle - width <= 1 && middle + width >= 1
    }
    last_edge[shape] = edge
    if (!(shape in floor_of))
        return
    half_width[shape, trials[shape]] = 100 * width
    for (r = 0; r < 2 * rounds; ++r)
        x[r + 1] = a[first + r]
    time_us[shape, trials[shape]] = median(x, 2 * rounds)
    for (r = 0; r < 2 * rounds; ++r)
        y[r + 1] = b[first + r]
    off[shape, trials[shape]] = 100 * (median(x, 2 * rounds) / median(y, 2 * rounds) - 1)
}
BEGIN { rounds = 10; srand(1) }
{
    for (i = 3; i <= NF; ++i) {
        if ($2 == "host")
            a[i - 2] = $i
        else
            b[i - 2] = $i
    }
    seen[$1, $2] = 1
    count = NF - 2
    if (!($1 in known)) { known[$1] = ++shape_count; shape_at[shape_count] = $1 }
    if ((held_shape == $1) && held_name != $2) {
        for (first = 1; first + 2 * rounds - 1 <= count; first += 2 * rounds)
            trial($1, first)
        floor_of[$1] = last_edge[$1]
    }
    held_shape = $1
    held_name = $2
}
END {
    printf "%6s %5s %7s %9s %12s %12s %15s %15s %14s\n", "shape", "ranks", "trials", "µs", "1 inside", "by rounds", "half width %",
        "widest of 95 %", "median off %"
    for (s = 1; s <= shape_count; ++s) {
        shape = shape_at[s]
        for (i = 1; i <= trials[shape]; ++i) {
            w[i] = half_width[shape, i]
            t[i] = time_us[shape, i]
            o[i] = off[shape, i] < 0 ? -off[shape, i] : off[shape, i]
        }
        sorted(w, trials[shape], order)
        printf "%6s %5d %7d %9.1f %12d %12d %15.2f %15.2f %14.2f\n", shape, ranks, trials[shape], median(t, trials[shape]),
            contains[shape], inner[shape], median(w, trials[shape]), order[int(0.95 * trials[shape])], median(o, trials[shape])
    }
}
