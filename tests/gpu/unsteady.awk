# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Reads lines "SHAPE PROGRAM SAMPLE…" and names the programs whose times say little: a quarter of them is 1.4 times as long
# as another quarter. Kernels that are loaded while they are timed look like that, and other programs on the same GPUs.

{
    for (i = 3; i <= NF; ++i)
        times[i - 2] = $i
    count = NF - 2
    sorted(times, count, order)
    fast = order[int(count / 4 + 0.5)]
    slow = order[int(3 * count / 4 + 0.5)]
    if (slow > 1.4 * fast)
        printf "%s, %s at %s: a quarter of its times is below %.1f µs, another above %.1f µs\n", job, $2, $1, fast, slow
}
