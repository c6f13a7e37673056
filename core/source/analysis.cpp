// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis.h"

#include "core/base/json.h"
#include "core/base/subprocess.h"
#include "core/source/analysis_walk.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace cuco {

namespace {

using nlohmann::json;

Result<void> check(const AnalysisRequest& request)
{
    if (request.source.size() > max_analysed_bytes) {
        return failure(
            fmt::format("The source has {} bytes; {} are analysed at most.", request.source.size(), max_analysed_bytes),
            request.name, "Analyse its parts.");
    }
    if (request.source.find('\0') != std::string::npos) {
        return failure("The source holds a NUL byte; it is no text.", request.name, "Give a CUDA source.");
    }
    return {};
}

json requestJson(const AnalysisRequest& request)
{
    json folders = json::array();
    for (const auto& folder : request.include_folders) {
        folders.push_back(folder.string());
    }
    // Bytes that are no UTF-8 cannot be in JSON text; as numbers they can.
    return {{"source", json::binary(std::vector<std::uint8_t>(request.source.begin(), request.source.end()))},
            {"name", request.name},
            {"declarations", request.declarations.string()},
            {"include_folders", std::move(folders)}};
}

/// The cucoctl of this very product, then any on PATH: an older one may know no worker.
std::optional<std::filesystem::path> workerProgram()
{
    std::error_code error;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "cucoctl";
    return !error && std::filesystem::is_regular_file(beside, error) ? beside : findProgram("cucoctl");
}

std::string bytesOf(const json& document)
{
    const auto bytes = json::to_cbor(document);
    return {bytes.begin(), bytes.end()};
}

}  // namespace

Result<CudaAnalysis> analyzeCudaHere(const AnalysisRequest& request)
{
    if (const auto checked = check(request); !checked) {
        return std::unexpected(checked.error());
    }
    const auto program = analysis::parseProgram(request);
    if (!program) {
        return std::unexpected(program.error());
    }
    CudaAnalysis result;
    result.source = request.name;
    result.lines = static_cast<std::size_t>(std::ranges::count(request.source, '\n')) +
                   (request.source.empty() || request.source.ends_with('\n') ? 0 : 1);
    result.unresolved = program->unresolved;
    result.truncated = program->truncated;
    analysis::Walk(*program, result).run();
    return result;
}

Result<CudaAnalysis> analyzeCuda(const AnalysisRequest& request, std::stop_token stop)
{
    if (const auto checked = check(request); !checked) {
        return std::unexpected(checked.error());
    }
    const auto worker = workerProgram();
    if (!worker) {
        return failure("Sources are analysed by cucoctl, which is neither on PATH nor beside this program.", "cucoctl",
                       "Install the whole product.");
    }
    Command command;
    command.argv = {worker->string(), "analyze", "--worker"};
    command.working_directory = "/";
    command.environment = scrubbedEnvironment();
    if (const char* chosen = std::getenv("CUCO_LIBCLANG"); chosen != nullptr) {
        command.environment["CUCO_LIBCLANG"] = chosen;
    }
    command.input = bytesOf(requestJson(request));
    command.limits.wall = request.limit;
    command.limits.output_bytes = 64u << 20;
    command.limits.data_bytes = std::uint64_t(3) << 30;
    command.limits.file_bytes = 1u << 20;
    const auto outcome = runCommand(command, stop);
    if (!outcome) {
        return std::unexpected(outcome.error());
    }
    if (outcome->cancelled) {
        return failure("The analysis was cancelled.", request.name);
    }
    if (outcome->timed_out) {
        return failure(fmt::format("The analysis took longer than {} s and was ended.",
                                   std::chrono::duration_cast<std::chrono::seconds>(request.limit).count()),
                       request.name, "Look for a macro or template that expands without end.");
    }
    if (!outcome->succeeded()) {
        return failure(
            outcome->signal != 0
                ? fmt::format("libclang crashed on the source (signal {}).", outcome->signal)
                : fmt::format("The analysis ended with code {}: {}", outcome->exit_code, outcome->err.substr(0, 500)),
            request.name, "Analyse the source in parts to find what it cannot take.");
    }
    const auto document = parseJson(outcome->out, request.name);
    if (!document) {
        return std::unexpected(document.error());
    }
    if (const auto error = document->find("error"); error != document->end()) {
        return failure(error->value("what", ""), error->value("where", ""), error->value("remedy", ""));
    }
    return analysisFromJson(*document);
}

std::string analysisWorker(const std::string& input)
{
    const auto answer = [&]() -> json {
        const auto failed = [](const Error& error) -> json {
            return {{"error", {{"what", error.what}, {"where", error.where}, {"remedy", error.remedy}}}};
        };
        const json document = json::from_cbor(input, true, false);
        if (document.is_discarded() || !document.is_object() || !document.contains("source") ||
            !document["source"].is_binary()) {
            return failed({"The worker got no request.", "cucoctl analyze --worker", "Use cucoctl analyze SOURCE."});
        }
        AnalysisRequest request;
        const auto& bytes = document["source"].get_binary();
        request.source.assign(bytes.begin(), bytes.end());
        request.name = document.value("name", request.name);
        request.declarations = document.value("declarations", "");
        for (const json& folder : document.value("include_folders", json::array())) {
            request.include_folders.emplace_back(folder.get<std::string>());
        }
        const auto analysis = analyzeCudaHere(request);
        return analysis ? toJson(*analysis) : failed(analysis.error());
    }();
    return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace cuco
