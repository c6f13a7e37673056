// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_snapshot.h"

#include <vector>

namespace cuco::ui {

/// Where each candidate stands in the lineage, in whole cells: x is the generation, each island is a lane
/// of rows. Knows nothing of pixels.
struct LineageLayout {
    struct Node {
        int column = 0, row = 0;    ///< row counts from the top of all lanes
        std::vector<int> parents;   ///< indices; those in the run only
        std::vector<int> children;  ///< indices, by number
    };
    struct Lane {
        int island = 0;
        int first_row = 0, rows = 1;
    };

    std::vector<Node> nodes;  ///< as in RunSnapshot::candidates
    std::vector<Lane> lanes;  ///< by island
    int columns = 0, rows = 0;

    /// The node above or below in the same column; the index itself at the end.
    int sibling(int index, int step) const;
};

LineageLayout layOut(const std::vector<Candidate>& candidates);

}  // namespace cuco::ui
