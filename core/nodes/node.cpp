// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/node.h"

#include <nlohmann/json.hpp>

namespace cuco {

std::string_view toString(NodeKind kind)
{
    switch (kind) {
        case NodeKind::local:
            return "local";
        case NodeKind::emulated:
            return "emulated";
    }
    return "unknown";
}

nlohmann::json toJson(const NodeProbe& probe)
{
    const auto listed = [](const std::vector<Error>& errors) {
        auto list = nlohmann::json::array();
        for (const auto& error : errors)
            list.push_back({{"what", error.what}, {"where", error.where}, {"remedy", error.remedy}});
        return list;
    };
    auto gpus = nlohmann::json::array();
    for (const auto& gpu : probe.gpus)
        gpus.push_back({{"name", gpu.name},
                        {"memory_bytes", gpu.memory_bytes},
                        {"driver", gpu.driver},
                        {"index", gpu.index},
                        {"uuid", gpu.uuid}});
    auto neighbours = nlohmann::json::array();
    for (const auto& neighbour : probe.neighbours)
        neighbours.push_back({{"gpu", neighbour.gpu},
                              {"process", neighbour.process},
                              {"program", neighbour.program},
                              {"memory_bytes", neighbour.memory_bytes}});
    auto nccl = nlohmann::json::array();
    for (const auto& install : probe.nccl)
        nccl.push_back({{"header", install.header.string()},
                        {"library", install.library.string()},
                        {"header_version", install.header_version},
                        {"library_version", install.library_version},
                        {"usable", install.usable()}});
    return {{"node", probe.node},
            {"kind", toString(probe.kind)},
            {"usable", probe.usable},
            {"problems", listed(probe.problems)},
            {"remarks", listed(probe.remarks)},
            {"compiler", probe.compiler},
            {"gpus", gpus},
            {"neighbours", neighbours},
            {"nccl", nccl},
            {"capabilities", probe.capabilities},
            {"max_ranks", probe.max_ranks},
            {"modelled", probe.modelled},
            {"sandboxed", probe.sandboxed},
            {"sandbox_note", probe.sandbox_note}};
}

}  // namespace cuco
