// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/find_workload.h"
#include "core/base/files.h"
#include "core/design/directive_evidence.h"
#include "core/source/analysis.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path source;
    std::string workload;
    std::vector<std::filesystem::path> folders;
    bool json = false, worker = false;
};

nlohmann::json toJson(const DimensionEvidence& dimension)
{
    nlohmann::json seen = nlohmann::json::array();
    for (const EvidenceSeen& item : dimension.seen) {
        seen.push_back({{"value", item.value}, {"why", item.why}, {"file", item.file}, {"line", item.line}});
    }
    return {{"value", dimension.value}, {"seen", std::move(seen)}};
}

int work()
{
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    fmt::print("{}\n", analysisWorker(input));
    return exit_success;
}

int analyze(const Options& options, const Session& session)
{
    if (options.source.empty()) {
        return reportUsage("Name the source to analyse: cucoctl analyze SOURCE.cu");
    }
    std::error_code ignored;
    if (!std::filesystem::exists(options.source, ignored)) {
        return reportUsage(fmt::format("There is no file {}.", options.source.string()));
    }
    auto text = readFile(options.source, max_analysed_bytes);
    if (!text) {
        return reportError(text.error());
    }
    const auto paths = DataPaths::find();
    if (!paths) {
        return reportError(paths.error());
    }
    AnalysisRequest request;
    request.source = std::move(*text);
    request.name = options.source.filename().string();
    request.declarations = paths->resources / "analysis";
    request.include_folders = options.folders;
    if (!options.workload.empty()) {
        const auto workload = findWorkload(*paths, options.workload);
        if (!workload) {
            return reportUsage(describe(workload.error()));
        }
        request.include_folders.push_back(workload->folder);
    }
    request.include_folders.push_back(paths->workloads / "harness");
    for (auto& folder : request.include_folders) {
        folder = std::filesystem::absolute(folder, ignored);
    }
    const auto analysis = analyzeCuda(request, session.stop);
    if (!analysis) {
        return reportError(analysis.error());
    }
    const DirectiveEvidence evidence = directiveEvidence(*analysis);
    if (options.json) {
        nlohmann::json document = cuco::toJson(*analysis);
        document["directive_evidence"] = {{"backend", toJson(evidence.backend)},
                                          {"placement", toJson(evidence.placement)},
                                          {"sync", toJson(evidence.sync)},
                                          {"issuer", toJson(evidence.issuer)}};
        printJson(document);
    } else {
        fmt::print("{}directive as the code has it\n", toText(*analysis));
        fmt::print("{}", toText(evidence));
    }
    return exit_success;
}

}  // namespace

void addAnalyzeCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("analyze", "What a CUDA source does between GPUs, read from its text");
    auto options = std::make_shared<Options>();
    command->add_option("SOURCE", options->source, "A CUDA or C++ source; it need not be complete");
    command->add_option("--workload", options->workload, "Whose headers the source includes: a name or a folder");
    command->add_option("-I,--include", options->folders, "A folder with headers that the source includes");
    command->add_flag("--json", options->json, "One JSON document");
    // The other end of analyzeCuda(): a request on standard input, its answer on standard output.
    command->add_flag("--worker", options->worker)->group("");
    command->callback(
        [&session, options] { session.exit_code = options->worker ? work() : analyze(*options, session); });
}

}  // namespace cuco::cli
