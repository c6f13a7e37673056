// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/run_follower.h"
#include "core/base/files.h"
#include "core/run/open_run.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace cuco::cli {

namespace {

constexpr std::uint64_t most_source_bytes = 4u << 20;

struct Options {
    std::filesystem::path file, source;
    std::string parent, note;
    bool json = false;
};

int submit(const Options& options, std::stop_token stop)
{
    const auto source = readFile(options.source, most_source_bytes);
    if (!source)
        return reportUsage(describe(source.error()));
    const auto paths = DataPaths::find();
    if (!paths)
        return reportError(paths.error());
    auto run = openRun(*paths, options.file, progressPrinter());
    if (!run)
        return reportError(run.error());
    if (auto submitted = (*run)->submit(options.parent, *source, options.note); !submitted)
        return reportUsage(describe(submitted.error()));
    {
        const std::stop_callback interrupt(stop, [&] { (*run)->stop(); });
        (*run)->wait();
    }
    run->reset();
    auto reader = RunFile::open(options.file, RunFile::Access::read);
    const auto snapshot = reader ? (*reader)->snapshot() : std::unexpected(reader.error());
    if (!snapshot)
        return reportError(snapshot.error());
    const auto& candidates = snapshot->candidates;
    const auto made = std::ranges::find(candidates.rbegin(), candidates.rend(), person_proposer, &Candidate::proposer);
    if (made == candidates.rend() || made->state != CandidateState::settled) {
        fmt::print(stderr, "It is stored, but not evaluated yet: {}\nGo on with: cucoctl resume {}\n",
                   snapshot->message, options.file.string());
        return exit_unsuccessful;
    }
    if (options.json)
        printJson(toJson(*made));
    return made->evaluation->verified() ? exit_success : exit_unsuccessful;
}

}  // namespace

void addSubmitCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("submit", "Evaluate a source of your own as the child of a candidate");
    auto options = std::make_shared<Options>();
    command->add_option("FILE.cuco", options->file, "The run")->required();
    command->add_option("PARENT", options->parent, "The candidate it was written from: c12")->required();
    command->add_option("SOURCE", options->source, "The parent's source with other evolve blocks")->required();
    command->add_option("--note", options->note, "What was changed, for the list and for later prompts");
    command->add_flag("--json", options->json, "The candidate as one JSON document");
    command->callback([&session, options] { session.exit_code = submit(*options, session.stop); });
}

}  // namespace cuco::cli
