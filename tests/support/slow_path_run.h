// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/slow_path.h"
#include "core/evaluation/data_paths.h"
#include "core/run/event_log.h"
#include "core/run/run_models.h"
#include "tests/support/computed_client.h"
#include "tests/support/fake_run.h"

#include <algorithm>
#include <map>

namespace cuco::testing {

inline const std::string lsa = "backend=lsa placement=sequential sync=world issuer=cta chunk=0";

/// A program in the fake workload's frame that no other number makes. `merit` is its speed-up at its best tunables.
inline std::string program(unsigned number, double merit, const std::string& directive = lsa)
{
    return fmt::format(
        "// EVOLVE-BLOCK-START\n// cuco: {}\n// merit={}\nconstexpr unsigned kind = {}u;\n"
        "CUCO_TUNE(ctas, 8, 4, 8, 16, 32);\n// EVOLVE-BLOCK-END\n",
        directive, merit, number);
}

inline std::string answered(const std::string& source, const std::string& directive = lsa)
{
    return fmt::format("cuco: {}\nNAME: a variant\nDESCRIPTION: Does it otherwise.\n\n```cpp\n{}```\n", directive,
                       source);
}

inline unsigned hashOf(const ChatRequest& request)
{
    return static_cast<unsigned>(std::stoul(requestSha256(request).substr(0, 7), nullptr, 16));
}

inline bool isSummary(const ChatRequest& request)
{
    return request.messages.front().text.contains("Bring the notes up to date");
}

inline const std::string summary =
    "# Summaries\n- c2: tried\n# Findings\n- Large chunks help.\n# Recommendations\n1. Larger chunks.\n";

/// A new program for each request, better than those before by chance.
inline ChatResult inventive(const ChatRequest& request)
{
    if (isSummary(request))
        return answerOf(summary);
    const unsigned hash = hashOf(request);
    return answerOf(answered(program(hash, 1.0 + (hash % 100) / 100.0)));
}

/// A search on the fake workload that "m" answers, and what its run file then has.
struct SlowPathRun {
    RunConfig config() const
    {
        RunConfig made = configured;
        made.seed = seed;
        made.generations = generations;
        made.proposer = "llm";
        made.provider.provider = "replay";
        made.provider.recording = "none";
        made.slow_path = settings;
        made.budget_usd = 0;
        return made;
    }

    std::unique_ptr<RunController> open(ComputedClient::Answer answer, FakeEvaluator::Options options = {})
    {
        client = std::make_shared<ComputedClient>(std::move(answer), longest_delay);
        return open(client, std::move(options));
    }
    std::unique_ptr<RunController> open(std::shared_ptr<ChatClient> answers, FakeEvaluator::Options options = {})
    {
        auto file = std::filesystem::exists(path) ? RunFile::open(path, RunFile::Access::write).value()
                                                  : RunFile::create(path, config()).value();
        AgentModels models;
        models.client = answers;
        models.model = "m";
        if (const auto done = rememberCalls(models, config(), {}, *file); !done)
            throw std::runtime_error(describe(done.error()));
        models.client = std::move(answers);  // instead of the configuration's own
        models.embeddings = embeddings;
        models.embedding_model = embeddings ? "e" : "";
        evaluator = make_evaluator(workload, std::move(options));
        auto proposer =
            SlowPathProposer::create({workload, std::move(models), PromptLibrary(DataPaths::find()->resources),
                                      DesignSpace::load(DataPaths::find()->resources / "design_space.json").value(),
                                      settings, config().islands, config().seed, ""});
        if (!proposer)
            throw std::runtime_error(describe(proposer.error()));
        return std::make_unique<RunController>(RunController::Parts{std::move(file), evaluator, std::move(*proposer)},
                                               observer);
    }
    RunState run(ComputedClient::Answer answer, FakeEvaluator::Options options = {})
    {
        const auto controller = open(std::move(answer), std::move(options));
        controller->start();
        controller->wait();
        return controller->state();
    }

    std::unique_ptr<RunFile> file() const { return RunFile::open(path, RunFile::Access::read).value(); }
    std::vector<AgentStep> steps() const { return file()->steps().value(); }
    std::vector<LlmCallSummary> calls() const { return file()->llmCalls().value(); }
    RunSnapshot snapshot() const { return file()->snapshot().value(); }
    std::string eventLog() const
    {
        const auto log = cuco::eventLog(*file()).value();
        std::string lines;
        for (const auto& event : log)
            lines += dumpJson(event) + "\n";
        return lines;
    }
    std::vector<std::string> titles() const
    {
        std::vector<std::string> all;
        for (const auto& step : steps())
            all.push_back(step.title);
        return all;
    }
    std::vector<Candidate> children() const
    {
        auto candidates = snapshot().candidates;
        std::erase_if(candidates, [](const Candidate& candidate) { return candidate.generation == 0; });
        return candidates;
    }

    TemporaryFolder folder;
    Workload workload = fakeWorkload(folder.path());
    std::filesystem::path path = folder.path() / "run.cuco";
    RunConfig configured = fakeConfig();
    SlowPathSettings settings;
    std::uint64_t seed = 1;
    int generations = 3;
    std::chrono::microseconds longest_delay{0};
    RunObserver observer{};
    std::shared_ptr<ComputedClient> client;  ///< made by open()
    std::shared_ptr<ChatClient> embeddings;
    std::function<std::shared_ptr<FakeEvaluator>(Workload, FakeEvaluator::Options)> make_evaluator =
        [](Workload of, FakeEvaluator::Options options) {
            return std::make_shared<FakeEvaluator>(std::move(of), std::move(options));
        };
    std::shared_ptr<FakeEvaluator> evaluator;
};

}  // namespace cuco::testing
