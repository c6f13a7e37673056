// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_layout.h"

#include <algorithm>

namespace cuco::ui {

TimelineLayout::TimelineLayout(const TimelineIndex& index, const std::set<int>& collapsed_ranks, int header_height)
{
    const auto add = [&](Band band, int gap) {
        band.y = height_;
        height_ += band.height + gap;
        bands_.push_back(band);
    };
    for (std::size_t group = 0; group < index.ranks().size(); ++group) {
        const auto& rank = index.ranks()[group];
        add({Band::Kind::rank_header, 0, header_height, group, 0}, 0);
        if (!collapsed_ranks.contains(rank.rank)) {
            for (const std::uint32_t lane : rank.lanes) {
                const int levels = static_cast<int>(index.rowsOf(lane).rows.size());
                add({Band::Kind::lane, 0, levels * level_height, group, lane}, lane_gap);
            }
        }
        add({Band::Kind::overlap, 0, overlap_height, group, 0}, overlap_gap);
    }
}

const Band* TimelineLayout::bandAt(int y) const
{
    const auto after = std::ranges::upper_bound(bands_, y, {}, &Band::y);
    if (after == bands_.begin())
        return nullptr;
    const Band& band = *std::prev(after);
    return y < band.y + band.height ? &band : nullptr;
}

const Band* TimelineLayout::bandOfLane(std::uint32_t lane) const
{
    const auto band =
        std::ranges::find_if(bands_, [&](const Band& b) { return b.kind == Band::Kind::lane && b.lane == lane; });
    return band == bands_.end() ? nullptr : &*band;
}

}  // namespace cuco::ui
