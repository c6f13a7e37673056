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
    auto problems = nlohmann::json::array();
    for (const auto& problem : probe.problems)
        problems.push_back({{"what", problem.what}, {"where", problem.where}, {"remedy", problem.remedy}});
    auto gpus = nlohmann::json::array();
    for (const auto& gpu : probe.gpus)
        gpus.push_back({{"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}, {"driver", gpu.driver}});
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
            {"problems", problems},
            {"compiler", probe.compiler},
            {"gpus", gpus},
            {"nccl", nccl},
            {"capabilities", probe.capabilities},
            {"max_ranks", probe.max_ranks},
            {"modelled", probe.modelled},
            {"sandboxed", probe.sandboxed},
            {"sandbox_note", probe.sandbox_note}};
}

}  // namespace cuco
