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

/// "GPU 0–7" when they are alike, so that eight equal lines are one.
void addGpus(const std::vector<GpuInfo>& gpus, std::vector<std::vector<std::string>>& rows)
{
    for (std::size_t first = 0; first < gpus.size();) {
        std::size_t last = first;
        while (last + 1 < gpus.size() && gpus[last + 1].name == gpus[first].name &&
               gpus[last + 1].memory_bytes == gpus[first].memory_bytes && gpus[last + 1].index == gpus[last].index + 1)
            ++last;
        const auto& gpu = gpus[first];
        rows.push_back(
            {first == last ? fmt::format("GPU {}", gpu.index) : fmt::format("GPU {}–{}", gpu.index, gpus[last].index),
             fmt::format("{}, {} GiB, driver {}", gpu.name, gpu.memory_bytes >> 30, gpu.driver)});
        first = last + 1;
    }
}

std::string describeNccl(const NcclInstall& nccl)
{
    if (nccl.usable())
        return fmt::format("{} ({}, {})", nccl.library_version, nccl.header.string(), nccl.library.string());
    const auto part = [](const char* kind, const std::string& version, const std::filesystem::path& file) {
        return file.empty()
                   ? fmt::format("no {}", kind)
                   : fmt::format("{} {} ({})", kind, version.empty() ? "of unknown version" : version, file.string());
    };
    return fmt::format("not usable: {}, {}", part("header", nccl.header_version, nccl.header),
                       part("library", nccl.library_version, nccl.library));
}

void printErrors(const char* title, const std::vector<Error>& errors)
{
    if (errors.empty())
        return;
    fmt::print("\n{}\n", title);
    for (const auto& error : errors) {
        fmt::print("  {}{}\n", error.what, error.where.empty() ? "" : fmt::format(" ({})", error.where));
        if (!error.remedy.empty())
            fmt::print("    → {}\n", error.remedy);
    }
}

void printProbe(const NodeProbe& probe)
{
    std::vector<std::vector<std::string>> rows{
        {"Node", fmt::format("{} ({})", probe.node, probe.usable ? "usable" : "not usable")},
        {"Times", probe.modelled ? "modelled" : "measured"},
        {"Compiler", probe.compiler.empty() ? "none" : probe.compiler},
        {"Ranks", probe.max_ranks > 0 ? fmt::format("up to {}", probe.max_ranks) : "none"},
        {"Can", probe.capabilities.empty() ? "nothing" : fmt::format("{}", fmt::join(probe.capabilities, ", "))},
        {"Sandbox", probe.sandboxed ? probe.sandbox_note : "none"},
    };
    addGpus(probe.gpus, rows);
    for (const auto& nccl : probe.nccl)
        rows.push_back({"NCCL", describeNccl(nccl)});
    printTable(rows);
    printErrors("What keeps it from being used", probe.problems);
    auto remarks = probe.remarks;
    if (!probe.sandboxed)
        remarks.push_back({probe.sandbox_note, "", ""});
    printErrors("Worth knowing", remarks);
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
    probe->add_option("--node", options->node, node_help);
    probe->add_flag("--json", options->json, "One JSON document");
    probe->callback([&session, options] { session.exit_code = probeNode(*options, session.stop); });
}

}  // namespace cuco::cli
