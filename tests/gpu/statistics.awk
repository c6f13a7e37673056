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
