// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/evaluation/evaluator_factory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::string node;
    bool json = false;
};

void printProbe(const NodeProbe& probe)
{
    std::vector<std::vector<std::string>> rows{
        {"Node", fmt::format("{} ({})", probe.node, probe.usable ? "usable" : "not usable")},
        {"Times", probe.modelled ? "modelled" : "measured"},
        {"Compiler", probe.compiler.empty() ? "none" : probe.compiler},
        {"Ranks", fmt::format("up to {}", probe.max_ranks)},
        {"Can", fmt::format("{}", fmt::join(probe.capabilities, ", "))},
    };
    for (const auto& gpu : probe.gpus)
        rows.push_back({"GPU", fmt::format("{}, {} GiB, driver {}", gpu.name, gpu.memory_bytes >> 30, gpu.driver)});
    for (const auto& nccl : probe.nccl)
        rows.push_back(
            {"NCCL",
             fmt::format("header {} {}, library {} {}{}", nccl.header_version.empty() ? "none" : nccl.header_version,
                         nccl.header.string(), nccl.library_version.empty() ? "none" : nccl.library_version,
                         nccl.library.string(), nccl.usable() ? "" : " (they do not match)")});
    printTable(rows);
    if (probe.problems.empty())
        return;
    fmt::print("\n");
    rows = {{"PROBLEM", "WHAT TO DO"}};
    for (const auto& problem : probe.problems)
        rows.push_back({problem.where.empty() ? problem.what : fmt::format("{} ({})", problem.what, problem.where),
                        problem.remedy});
    printTable(rows);
}

int probeNode(const Options& options, std::stop_token stop)
{
    const auto node = makeNode(options.node);
    if (!node)
        return reportUsage(describe(node.error()));
    const auto probe = (*node)->probe(stop);
    if (!probe)
        return reportError(probe.error());
    if (options.json)
        printJson(toJson(*probe));
    else
        printProbe(*probe);
    return probe->usable ? exit_success : exit_environment;
}

}  // namespace

void addNodeCommand(CLI::App& app, Session& session)
{
    auto* node = app.add_subcommand("node", "Look at the places where candidates can run");
    node->require_subcommand(1);
    auto* probe = node->add_subcommand("probe", "Say what a node has and what it lacks");
    auto options = std::make_shared<Options>();
    probe->add_option("--node", options->node, "emulated or local; by default the first that can run");
    probe->add_flag("--json", options->json, "One JSON document");
    probe->callback([&session, options] { session.exit_code = probeNode(*options, session.stop); });
}

}  // namespace cuco::cli
