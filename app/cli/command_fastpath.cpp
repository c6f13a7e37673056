// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/find_workload.h"
#include "app/cli/provider_options.h"
#include "app/cli/run_follower.h"
#include "core/agents/fast_path.h"
#include "core/base/files.h"
#include "core/run/open_run.h"

#include <fmt/format.h>

#include <unistd.h>
#include <memory>

namespace cuco::cli {

namespace {

constexpr std::uint64_t most_source_bytes = 4u << 20;

struct Options {
    std::string source, workload;
    std::filesystem::path out, run_file;
    RunConfig config;
    bool json = false, trust_provider = false;
};

/// A run file in a folder of its own that goes when it is not asked for.
class RunFilePlace {
public:
    Result<void> choose(const std::filesystem::path& wanted)
    {
        file_ = wanted;
        if (!wanted.empty())
            return {};
        std::string name = (std::filesystem::temp_directory_path() / "cuco-fastpath-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            return failure("No folder for the run can be made.", name, "Make room there, or give --run-file.");
        folder_ = name;
        file_ = folder_ / "fastpath.cuco";
        return {};
    }
    ~RunFilePlace()
    {
        std::error_code ignored;
        if (!folder_.empty())
            std::filesystem::remove_all(folder_, ignored);
    }
    const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path folder_, file_;
};

/// The result's source to --out. The exit code.
int writeResult(const std::filesystem::path& run_file, const std::filesystem::path& out)
{
    auto reader = RunFile::open(run_file, RunFile::Access::read);
    if (!reader)
        return reportError(reader.error());
    const auto snapshot = (*reader)->snapshot();
    if (!snapshot)
        return reportError(snapshot.error());
    std::vector<const Candidate*> candidates;
    for (const auto& candidate : snapshot->candidates)
        candidates.push_back(&candidate);
    const Candidate* result = fastPathResult(candidates);
    if (!result || snapshot->state != RunState::finished) {
        fmt::print(stderr, "{} was not written.\n", out.string());
        return exit_unsuccessful;
    }
    const auto source = (*reader)->source(result->id);
    if (!source)
        return reportError(source.error());
    if (auto written = writeFileAtomically(out, *source); !written)
        return reportError(written.error());
    fmt::print(stderr, "{}: {}, {}\n", out.string(), result->id, result->summary);
    return exit_success;
}

int follow(Result<std::unique_ptr<RunController>> run, const std::filesystem::path& file, const Options& options,
           const std::stop_token& stop)
{
    if (!run)
        return reportError(run.error());
    const int followed = followRun(std::move(*run), file, options.json, stop);
    if (followed == exit_environment)
        return followed;
    return writeResult(file, options.out);
}

/// Goes on with a conversion, by its own settings.
int goOn(const DataPaths& paths, const Options& options, const std::stop_token& stop)
{
    {
        auto reader = RunFile::open(options.run_file, RunFile::Access::read);
        if (!reader)
            return reportError(reader.error());
        const auto snapshot = (*reader)->snapshot();
        if (!snapshot)
            return reportError(snapshot.error());
        if (snapshot->config.proposer != "fastpath")
            return reportUsage(fmt::format("{} holds a search, no conversion. Choose another name for --run-file.",
                                           options.run_file.string()));
    }
    return follow(openRun(paths, options.run_file, progressPrinter(), {environmentKey, options.trust_provider}),
                  options.run_file, options, stop);
}

int convert(Options options, const std::stop_token& stop)
{
    const auto paths = DataPaths::find();
    if (!paths)
        return reportError(paths.error());
    std::error_code ignored;
    if (!options.run_file.empty() && std::filesystem::exists(options.run_file, ignored))
        return goOn(*paths, options, stop);
    const auto workload = findWorkload(*paths, options.workload);
    if (!workload)
        return reportUsage(describe(workload.error()));
    auto source = readFile(options.source, most_source_bytes);
    if (!source)
        return reportUsage(describe(source.error()));
    RunConfig& config = options.config;
    config.workload = workload->name;
    config.workload_folder = std::filesystem::absolute(workload->folder).lexically_normal().string();
    config.proposer = "fastpath";
    config.seed_source = std::move(*source);
    config.islands = 1;
    config.children = 1;
    config.generations = config.fast_path.attempts() - 1;
    for (auto* path : {&config.provider.folder, &config.provider.recording})
        if (!path->empty())
            *path = std::filesystem::absolute(*path).lexically_normal();
    if (auto valid = validate(config); !valid)
        return reportUsage(describe(valid.error()));
    if (auto can = canAskHere(config.provider); !can)
        return reportUsage(describe(can.error()));
    const auto node =
        makeNodeFor(*workload, config.node, config.ranks != 0 ? config.ranks : std::ranges::min(workload->ranks));
    if (!node)
        return reportUsage(describe(node.error()));
    config.node = (*node)->name();
    RunFilePlace place;
    if (auto chosen = place.choose(options.run_file); !chosen)
        return reportError(chosen.error());
    if (config.provider.provider.empty())
        fmt::print(stderr, "No --provider is given, so no model is asked: the workload's own seed is taken.\n");
    return follow(newRun(*paths, place.file(), config, progressPrinter()), place.file(), options, stop);
}

}  // namespace

void addFastPathCommand(CLI::App& app, Session& session)
{
    auto* command =
        app.add_subcommand("fastpath", "Turn a host-driven program into one that communicates on the device");
    auto options = std::make_shared<Options>();
    options->config.node.clear();
    RunConfig& config = options->config;
    command->add_option("SOURCE.cu", options->source, "The program, which implements the candidate's contract")
        ->required();
    command->add_option("--workload", options->workload, "Name, or a folder with a workload.json")->required();
    command->add_option("--backend", config.fast_path.backend, "What replaces the host's collectives")
        ->check(CLI::IsMember({"lsa", "gin"}))
        ->capture_default_str();
    command->add_option("--out", options->out, "Where the converted program goes")->required();
    command->add_option("--run-file", options->run_file,
                        "Keeps every attempt and call; one that exists is gone on with, by its own settings");
    command->add_option("--node", config.node, node_help);
    command->add_option("--ranks", config.ranks, "By default the workload's first count that the node can run");
    command->add_option("--budget-usd", config.budget_usd, "Never spent beyond; 0: no limit");
    command->add_option("--seed", config.seed, "Of the run")->capture_default_str();
    command->add_flag("--trust-provider", options->trust_provider,
                      "Use the provider that the run file names, also its program or its server");
    command->add_flag("--json", options->json, "The attempts as one JSON document, as show --json gives it");
    addProviderOptions(*command, config.provider);
    command->callback([&session, options] { session.exit_code = convert(*options, session.stop); });
}

}  // namespace cuco::cli
