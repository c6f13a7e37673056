// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/llm/chat.h"
#include "core/run/event_log.h"
#include "core/run/run_file.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace cuco::cli {

namespace {

int printEvents(const std::filesystem::path& path)
{
    auto file = RunFile::open(path, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto log = eventLog(**file);
    if (!log)
        return reportError(log.error());
    for (const auto& event : *log)
        fmt::print("{}\n", dumpJson(event));
    return exit_success;
}

}  // namespace

void addEventsCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand(
        "events",
        "What a search did, as JSON lines in an order that its seed and its answers fix; compare two with diff");
    auto path = std::make_shared<std::filesystem::path>();
    command->add_option("FILE.cuco", *path, "The run")->required();
    command->callback([&session, path] { session.exit_code = printEvents(*path); });
}

}  // namespace cuco::cli
