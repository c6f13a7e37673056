# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# For table.awk and noise.awk.

function sorted(values, count, order,    i, j, held) {
    for (i = 1; i <= count; ++i)
        order[i] = values[i]
    for (i = 2; i <= count; ++i) {
        held = order[i]
        for (j = i - 1; j >= 1 && order[j] > held; --j)
            order[j + 1] = order[j]
        order[j + 1] = held
    }
}
function median(values, count,    order) {
    sorted(values, count, order)
    return count % 2 ? order[(count + 1) / 2] : (order[count / 2] + order[count / 2 + 1]) / 2
}

# The 0.975 quantile of Student's t over the normal distribution's (core/evaluation/statistics.cpp).
function student(degrees,    q) {
    q = 1.959964 ^ 2
    return 1 + (q + 1) / (4 * degrees) + ((5 * q + 16) * q + 3) / (96 * degrees ^ 2) + \
        (((3 * q + 19) * q + 17) * q - 15) / (384 * degrees ^ 3)
}

# Sets low and high to the 95 % bootstrap interval over rounds of median(above) / median(below), as
# core/evaluation/statistics.h describes it; two samples a round. What differs between processes comes on top.
function interval(above, below, count,    rounds, i, r, chosen, x, y, ratios, order, value, spread) {
    rounds = int(count / 2)
    for (i = 1; i <= 1000; ++i) {
        for (r = 0; r < rounds; ++r) {
            chosen = 2 * int(rand() * rounds)
            x[2 * r + 1] = above[chosen + 1]; x[2 * r + 2] = above[chosen + 2]
            y[2 * r + 1] = below[chosen + 1]; y[2 * r + 2] = below[chosen + 2]
        }
        ratios[i] = median(x, 2 * rounds) / median(y, 2 * rounds)
    }
    sorted(ratios, 1000, order)
    value = median(above, count) / median(below, count)
    spread = sqrt(rounds / (rounds - 1)) * student(rounds - 1)
    low = value * (order[25] / value) ^ spread
    high = value * (order[975] / value) ^ spread
}
