// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/timeline/timeline_index.h"

#include <set>
#include <vector>

namespace cuco::ui {

/// A horizontal stripe of the canvas, in pixels below the ruler and before scrolling.
struct Band {
    enum class Kind { rank_header, lane, overlap };
    Kind kind = Kind::lane;
    int y = 0, height = 0;
    std::size_t group = 0;   ///< index into TimelineIndex::ranks()
    std::uint32_t lane = 0;  ///< of a lane
};

/// Where ranks and lanes lie. A collapsed rank keeps its header and its overlap strip.
class TimelineLayout {
public:
    static constexpr int level_height = 20, lane_gap = 4, overlap_height = 10, overlap_gap = 8;

    TimelineLayout() = default;
    TimelineLayout(const TimelineIndex& index, const std::set<int>& collapsed_ranks, int header_height);

    const std::vector<Band>& bands() const { return bands_; }
    int height() const { return height_; }
    const Band* bandAt(int y) const;
    const Band* bandOfLane(std::uint32_t lane) const;  ///< nullptr while its rank is collapsed

private:
    std::vector<Band> bands_;
    int height_ = 0;
};

}  // namespace cuco::ui
