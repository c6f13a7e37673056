// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/candidate_build.h"

#include "core/base/files.h"
#include "core/evaluation/object_guard.h"

#include <fmt/format.h>

namespace cuco {

namespace {

void buildFailed(const BuildFault& fault, Evaluation& evaluation)
{
    evaluation.verdict = fault.not_emulable ? Verdict::not_emulable
                         : fault.timed_out  ? Verdict::timeout
                                            : Verdict::compile_error;
    evaluation.message =
        fault.line == 0 ? fault.first_error : fmt::format("Line {}: {}", fault.line, fault.first_error);
    evaluation.detail = fault.log;
    evaluation.at = {fault.line, fault.first_error};
}

/// Looks into what was built, where it lies on this machine.
void guardObject(const JobFolder& folder, std::string_view backend, Evaluation& evaluation)
{
    const auto bytes = readFile(folder.path() / "candidate.so");
    const auto symbols = bytes ? readObjectSymbols(*bytes) : std::nullopt;
    if (!symbols)
        return;
    if (auto gaming = findGamingInObject(*symbols, backend)) {
        evaluation.verdict = gaming->verdict;
        evaluation.message = std::move(gaming->fault.message);
    }
}

}  // namespace

Result<std::shared_ptr<JobFolder>> compileCandidate(Node& node, Toolchain& toolchain, const std::string& source,
                                                    std::string_view backend, Evaluation& evaluation,
                                                    std::stop_token stop)
{
    evaluation.stage = Stage::compile;
    auto folder = node.createJob();
    if (!folder)
        return folder;
    const auto built = toolchain.build(node, **folder, source, stop);
    if (!built)
        return std::unexpected(built.error());
    if (!*built)
        buildFailed(built->error(), evaluation);
    else if (!backend.empty())
        guardObject(**folder, backend, evaluation);
    return folder;
}

ProfiledBuild::ProfiledBuild(Node& node, Toolchain& toolchain, std::string source, std::stop_token stop)
    : node_(node),
      toolchain_(toolchain),
      source_(std::move(source)),
      stopped_with_(std::move(stop), [this] { stop_source_.request_stop(); }),
      thread_([this](std::stop_token abandoned) {
          const std::stop_callback forward(abandoned, [this] { stop_source_.request_stop(); });
          built_ = build(stop_source_.get_token());
      })
{
}

Result<void> ProfiledBuild::build(std::stop_token stop)
{
    auto folder = node_.createJob();
    if (!folder)
        return std::unexpected(folder.error());
    folder_ = std::move(*folder);
    const auto built = toolchain_.buildProfiled(node_, *folder_, source_, stop);
    if (!built)
        return std::unexpected(built.error());
    if (!*built)
        return failure("It does not compile with CUCO_PROFILE defined: " + built->error().first_error);
    return {};
}

Result<void> ProfiledBuild::putInto(const JobFolder& job)
{
    if (thread_.joinable())
        thread_.join();
    if (!built_)
        return built_;
    const auto bytes = readFile(folder_->path() / file_name);
    if (!bytes)
        return std::unexpected(bytes.error());
    return node_.put(job, file_name, *bytes);
}

}  // namespace cuco
