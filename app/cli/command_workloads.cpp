// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/evaluation/data_paths.h"
#include "core/workload/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace cuco::cli {

namespace {

nlohmann::json toJson(const std::vector<Shape>& shapes)
{
    auto list = nlohmann::json::array();
    for (const auto& shape : shapes)
        list.push_back({{"name", shape.name},
                        {"parameters", shape.parameters},
                        {"represents", shape.represents ? nlohmann::json(*shape.represents) : nlohmann::json()}});
    return list;
}

nlohmann::json toJson(const Workload& workload)
{
    auto strategies = nlohmann::json::array();
    for (const auto& strategy : workload.strategies)
        strategies.push_back({{"name", strategy.name}, {"file", strategy.file.string()}});
    return {{"name", workload.name},
            {"title", workload.title},
            {"summary", workload.summary},
            {"folder", workload.folder.string()},
            {"ranks", workload.ranks},
            {"shapes",
             {{"search", toJson(workload.search_shapes)},
              {"verify", toJson(workload.verify_shapes)},
              {"validation", toJson(workload.validation_shapes)},
              {"emulated_search", toJson(workload.emulated_search_shapes)},
              {"emulated_verify", toJson(workload.emulated_verify_shapes)},
              {"emulated_validation", toJson(workload.emulated_validation_shapes)}}},
            {"strategies", strategies}};
}

int listWorkloads(bool json)
{
    const auto paths = DataPaths::find();
    if (!paths)
        return reportError(paths.error());
    const auto workloads = loadWorkloads(paths->workloads);
    if (!workloads)
        return reportError(workloads.error());
    if (json) {
        auto document = nlohmann::json::array();
        for (const auto& workload : *workloads)
            document.push_back(toJson(workload));
        printJson(document);
        return exit_success;
    }
    std::vector<std::vector<std::string>> rows{{"NAME", "RANKS", "STRATEGIES", "SUMMARY"}};
    for (const auto& workload : *workloads)
        rows.push_back({workload.name, fmt::format("{}", fmt::join(workload.ranks, ", ")),
                        std::to_string(workload.strategies.size()), workload.summary});
    printTable(rows);
    return exit_success;
}

}  // namespace

void addWorkloadsCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("workloads", "List the workloads there are");
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "One JSON document");
    command->callback([&session, json] { session.exit_code = listWorkloads(*json); });
}

}  // namespace cuco::cli
