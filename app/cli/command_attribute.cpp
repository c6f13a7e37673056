// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/attribution_run.h"
#include "app/cli/cli.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file;
    std::string id, against = "seed", node;
    bool json = false;
};

int attributeGain(const Options& options, std::stop_token stop)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    if (const auto request = attributionRequest(**file, options.id, options.against); !request)
        return reportUsage(describe(request.error()));
    const auto attribution = runAttribution(**file, options.id, options.against, options.node, std::move(stop));
    if (!attribution)
        return reportError(attribution.error());
    if (options.json)
        printJson(toJson(*attribution));
    else
        fmt::print("{}", toMarkdown(*attribution));
    return attribution->with_all.verified() ? exit_success : exit_unsuccessful;
}

}  // namespace

void addAttributeCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand(
        "attribute", "Which edits carry a candidate's gain: measures it with each hunk of its difference taken back");
    auto options = std::make_shared<Options>();
    command->add_option("FILE.cuco", options->file, "The run")->required();
    command->add_option("ID", options->id, "The candidate, as c27")->required();
    command->add_option("--against", options->against, "A candidate, or seed: what its island began with")
        ->capture_default_str();
    command->add_option("--node", options->node,
                        "emulated, local, or hosts (mpirun:HOST=GPUS,… or srun:…); by default the run's");
    command->add_flag("--json", options->json, "One JSON document with raw samples");
    command->callback([&session, options] { session.exit_code = attributeGain(*options, session.stop); });
}

}  // namespace cuco::cli
