// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/find_workload.h"
#include "app/cli/provider_options.h"
#include "app/cli/run_follower.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/run/open_run.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace cuco::cli {

namespace {

constexpr std::uint64_t most_source_bytes = 4u << 20;

struct Options {
    std::string workload, seed_source;
    std::filesystem::path out, slow_path;
    RunConfig config;
    bool json = false;
};

Result<SlowPathSettings> readSlowPath(const std::filesystem::path& file)
{
    const auto text = readFile(file, most_source_bytes);
    if (!text)
        return std::unexpected(text.error());
    const auto json = parseJson(*text, file.string());
    if (!json)
        return std::unexpected(json.error());
    return slowPathSettingsFromJson(*json, file.string());
}

int startRun(Options options, std::stop_token stop)
{
    std::error_code ignored;
    if (std::filesystem::exists(options.out, ignored))
        return reportUsage(
            fmt::format("There is already a file {}. Choose another name for --out, or go on with that "
                        "run by `cucoctl resume {}`.",
                        options.out.string(), options.out.string()));
    const auto paths = DataPaths::find();
    if (!paths)
        return reportError(paths.error());
    const auto workload = findWorkload(*paths, options.workload);
    if (!workload)
        return reportUsage(describe(workload.error()));
    RunConfig& config = options.config;
    config.workload = workload->name;
    config.workload_folder = std::filesystem::absolute(workload->folder).lexically_normal().string();
    if (config.ranks != 0 && std::ranges::find(workload->ranks, config.ranks) == workload->ranks.end())
        return reportUsage(fmt::format("Workload {} is not made for {} ranks.", workload->name, config.ranks));
    if (!options.seed_source.empty()) {
        auto source = readFile(options.seed_source, most_source_bytes);
        if (!source)
            return reportUsage(describe(source.error()));
        config.seed_source = std::move(*source);
    }
    if (!options.slow_path.empty()) {
        auto settings = readSlowPath(options.slow_path);
        if (!settings)
            return reportUsage(describe(settings.error()));
        config.slow_path = std::move(*settings);
    }
    if (config.proposer == "llm" && config.provider.provider.empty())
        return reportUsage(
            "A search by models needs to know whom to ask. Give --provider and --model, or leave "
            "--proposer out: the tunable proposer asks nobody.");
    if (config.proposer != "llm" && (!config.provider.provider.empty() || !options.slow_path.empty()))
        return reportUsage("Only --proposer llm asks a provider and has slow-path settings.");
    if (auto valid = validate(config); !valid)
        return reportUsage(describe(valid.error()));
    if (auto can = canAskHere(config.provider); !can)
        return reportUsage(describe(can.error()));
    const auto node =
        makeNodeFor(*workload, config.node, config.ranks != 0 ? config.ranks : std::ranges::min(workload->ranks));
    if (!node)
        return reportUsage(describe(node.error()));
    config.node = (*node)->name();
    auto run = newRun(*paths, options.out, config, progressPrinter());
    if (!run)
        return reportError(run.error());
    return followRun(std::move(*run), options.out, options.json, std::move(stop));
}

int resumeRun(const std::filesystem::path& file, bool json, bool trust_provider, std::stop_token stop)
{
    const auto paths = DataPaths::find();
    if (!paths)
        return reportError(paths.error());
    auto run = openRun(*paths, file, progressPrinter(), {environmentKey, trust_provider});
    if (!run)
        return reportError(run.error());
    return followRun(std::move(*run), file, json, std::move(stop));
}

}  // namespace

void addRunCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("run", "Search for faster kernels; Ctrl-C stops, resume goes on");
    auto options = std::make_shared<Options>();
    options->config.node.clear();
    RunConfig& config = options->config;
    command->add_option("WORKLOAD", options->workload, "Name, or a folder with a workload.json")->required();
    command->add_option("--out", options->out, "The run file to write, named *.cuco")->required();
    command->add_option("--seed-source", options->seed_source,
                        "A source to begin with in place of the workload's seed");
    command->add_option("--node", config.node, node_help);
    command
        ->add_option("--proposer", config.proposer,
                     "tunable: strategies and numbers, without a model. llm: a model writes")
        ->check(CLI::IsMember({"tunable", "llm"}));
    addProviderOptions(*command, config.provider);
    command->add_option("--slow-path", options->slow_path,
                        "Settings of a search by models, a JSON file (docs/slow-path.md)");
    command->add_option("--proposals-in-flight", config.proposals_in_flight,
                        "Asked of models at once; by default as many as a generation has");
    command->add_option("--generations", config.generations, "After the islands' seeds")->capture_default_str();
    command->add_option("--islands", config.islands, "Populations side by side")->capture_default_str();
    command->add_option("--children", config.children, "Of each island in each generation")->capture_default_str();
    command->add_option("--ranks", config.ranks, "By default the workload's first count that the node can run");
    command->add_option("--budget-usd", config.budget_usd, "Ends the search when it is spent; 0: no limit");
    command->add_option("--seed", config.seed, "The same seed gives the same run")->capture_default_str();
    command->add_flag("--check-races", config.check_races, "Run each candidate under the emulator's race checker");
    command->add_option("--compile-workers", config.compile_workers, "By default one a core");
    command->add_flag("--json", options->json, "The result as one JSON document, as show --json gives it");
    command->callback([&session, options] { session.exit_code = startRun(*options, session.stop); });
}

void addResumeCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("resume", "Go on with a run that was paused, stopped, cut off or failed");
    struct ResumeOptions {
        std::filesystem::path file;
        bool json = false, trust_provider = false;
    };
    auto options = std::make_shared<ResumeOptions>();
    command->add_option("FILE.cuco", options->file, "The run")->required();
    command->add_flag("--json", options->json, "The result as one JSON document, as show --json gives it");
    command->add_flag("--trust-provider", options->trust_provider,
                      "Use the provider that the run file names, also its program or its server");
    command->callback([&session, options] {
        session.exit_code = resumeRun(options->file, options->json, options->trust_provider, session.stop);
    });
}

}  // namespace cuco::cli
