// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_outcome.h"
#include "gpu/attached_rank.h"
#include "job.h"

#include <vector>

namespace cuco_harness {

/// Copies of strips of a team's outputs, taken by the copy engines as soon as it says that it is done, and again when
/// its outputs are compared: a rank that spoke too early shows by what has changed in between.
class Glance {
public:
    static constexpr int longest = 4096;  ///< iterations

    void resize(int ranks) { strips_.resize(size_t(ranks)); }
    /// With the rank's GPU current.
    Outcome allocate(int rank);

    /// Of so many iterations of a team.
    void begin(int team, int first_set, int length);
    /// Starts the copies of a rank, and does not wait for them.
    Outcome take(const AttachedRank& attached, const ShapeJob& shape, int rank, cudaStream_t stream);
    /// Which team was looked at, once; -1: none.
    int end();
    /// Whether the strips are still what they were.
    Outcome compare(const AttachedRank& attached, const ShapeJob& shape, int rank, cudaStream_t stream,
                    bool& same) const;

private:
    Outcome copy(const AttachedRank& attached, const ShapeJob& shape, int rank, cudaStream_t stream, char*& to) const;

    std::vector<char*> strips_;  ///< of each rank: those seen at the end, then those seen later
    int team_ = -1, first_set_ = 0, length_ = 0;
};

}  // namespace cuco_harness
