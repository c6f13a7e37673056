// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cuco_harness {

/// Tells processes of our own, which leave the GPUs one after the other and take seconds when they are many, from those
/// of others, which stay.
class Departure {
public:
    explicit Departure(int patience) : patience_(patience) {}

    /// Whether to look again when so many processes are there: not when there are none, nor when none has left during
    /// the last `patience` looks.
    bool goesOn(size_t processes)
    {
        waited_ = processes < fewest_ ? 0 : waited_ + 1;
        fewest_ = processes < fewest_ ? processes : fewest_;
        return processes > 0 && waited_ < patience_;
    }

private:
    int patience_, waited_ = 0;
    size_t fewest_ = size_t(-1);
};

}  // namespace cuco_harness
