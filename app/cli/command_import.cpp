// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/run/import_shinka.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path database, run_file;
    std::string workload;
    bool json = false;
};

int importDatabase(const Options& options, const std::stop_token& stop)
{
    const auto report = importShinka(options.database, options.run_file, options.workload, stop);
    if (!report)
        return reportError(report.error());
    for (const std::string& remark : report->remarks)
        fmt::print(stderr, "{}\n", remark);
    if (options.json)
        printJson({{"run_file", options.run_file.string()},
                   {"programs", report->programs},
                   {"correct", report->correct},
                   {"timed", report->timed},
                   {"llm_calls", report->calls},
                   {"remarks", report->remarks}});
    else
        fmt::print("{} programs, {} correct, {} with a time, {} calls of models; imported, self-reported: {}\n",
                   report->programs, report->correct, report->timed, report->calls, options.run_file.string());
    return exit_success;
}

}  // namespace

void addImportCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("import", "Make a run file of a database of ShinkaEvolve or CUCo (Python)");
    auto options = std::make_shared<Options>();
    command->add_option("DATABASE", options->database, "SQLite, with a table programs")->required();
    command->add_option("--run-file,--out", options->run_file, "The new file, as RUN.cuco")->required();
    command->add_option("--workload", options->workload, "What the run is called; by default as the database");
    command->add_flag("--json", options->json, "What was imported, as one JSON document");
    command->callback([&session, options] { session.exit_code = importDatabase(*options, session.stop); });
}

}  // namespace cuco::cli
