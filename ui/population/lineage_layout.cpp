// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/lineage_layout.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cuco::ui {

int LineageLayout::sibling(int index, int step) const
{
    const Node& from = nodes[static_cast<std::size_t>(index)];
    int best = index;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const int distance = (nodes[i].row - from.row) * step;
        const int best_distance = (nodes[static_cast<std::size_t>(best)].row - from.row) * step;
        if (nodes[i].column == from.column && distance > 0 && (best_distance <= 0 || distance < best_distance)) {
            best = static_cast<int>(i);
        }
    }
    return best;
}

LineageLayout layOut(const std::vector<Candidate>& candidates)
{
    LineageLayout layout;
    layout.nodes.resize(candidates.size());

    std::unordered_map<std::string_view, int> index_of;
    std::map<std::pair<int, int>, int> used;  // rows taken by (island, generation)
    std::map<int, int> lane_rows;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const Candidate& candidate = candidates[i];
        LineageLayout::Node& node = layout.nodes[i];
        index_of.emplace(candidate.id, static_cast<int>(i));
        node.column = std::max(candidate.generation, 0);
        node.row = used[{candidate.island, node.column}]++;
        int& rows = lane_rows[candidate.island];
        rows = std::max(rows, node.row + 1);
        layout.columns = std::max(layout.columns, node.column + 1);
        for (const std::string& parent : candidate.parents) {
            // A parent comes before its children, so one that is not known yet is not in this run.
            if (const auto found = index_of.find(parent); found != index_of.end()) {
                node.parents.push_back(found->second);
                layout.nodes[static_cast<std::size_t>(found->second)].children.push_back(static_cast<int>(i));
            }
        }
    }

    std::map<int, int> first_row;
    for (const auto& [island, rows] : lane_rows) {
        first_row[island] = layout.rows;
        layout.lanes.push_back({island, layout.rows, rows});
        layout.rows += rows;
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        layout.nodes[i].row += first_row[candidates[i].island];
    }
    return layout;
}

}  // namespace cuco::ui
