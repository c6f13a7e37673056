// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/stored_timeline.h"
#include "core/base/files.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file, out;
    std::string id, format = "perfetto";
};

int exportTrace(const Options& options)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto timeline = storedTimeline(**file, options.id);
    if (!timeline)
        return reportUsage(describe(timeline.error()));
    const std::string text = toPerfetto(*timeline).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (auto written = writeFileAtomically(options.out, text); !written)
        return reportError(written.error());
    return exit_success;
}

}  // namespace

void addTraceCommand(CLI::App& app, Session& session)
{
    auto* trace = app.add_subcommand("trace", "Timelines");
    trace->require_subcommand(1);
    auto* command = trace->add_subcommand("export", "Write a candidate's timeline for another program");
    auto options = std::make_shared<Options>();
    command->add_option("FILE.cuco", options->file, "The run")->required();
    command->add_option("ID", options->id, "The candidate, or a baseline as host.cu")->required();
    command->add_option("--format", options->format, "perfetto: Chrome trace events")
        ->check(CLI::IsMember({"perfetto"}));
    command->add_option("--out", options->out, "The file to write")->required();
    command->callback([&session, options] { session.exit_code = exportTrace(*options); });
}

}  // namespace cuco::cli
