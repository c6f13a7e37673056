// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/fast_path.h"
#include "ui_test_support.h"

#include <utility>

namespace cuco::ui::testing {

struct AttemptShape {
    FastPathStage stage;
    bool verifies;
    std::string judgement;  ///< of it, as a model gives it; empty: nobody was asked
};

/// A, then B with one that does not compile and one that is sent back, then an annotation.
inline std::vector<AttemptShape> exampleAttempts()
{
    using enum FastPathStage;
    return {
        {infrastructure, true, "VERDICT: accept\nCAUSE: none\nADVICE: none"},
        {replacement, false,
         "VERDICT: revise\nCAUSE: peer_ptr is used before it is declared.\nADVICE: Take the pointer from the window."},
        {replacement, true,
         "VERDICT: revise\nCAUSE: The last gather is still the host's.\nADVICE: Replace it as the others."},
        {replacement, true, "VERDICT: accept\nCAUSE: none\nADVICE: none"},
        {annotation, true, {}}};
}

inline RunConfig fastPathConfig(const QString& answers)
{
    RunConfig config;
    config.workload = "gemm_allgather";
    config.ranks = 4;
    config.proposer = "fastpath";
    config.islands = config.children = 1;
    config.generations = config.fast_path.attempts() - 1;
    config.provider.provider = answers.isEmpty() ? "" : "manual";
    config.provider.folder = answers.toStdString();
    return config;
}

inline LlmCall exampleCall(const std::string& agent, int step, const std::string& candidate_id,
                           const std::string& answer)
{
    LlmCall call;
    call.agent = agent;
    call.step = step;
    call.candidate_id = candidate_id;
    call.provider = "manual";
    call.started_ms = 1'700'000'000'000;
    call.request.messages = {{ChatRole::user, "What is asked about " + candidate_id}};
    ChatResponse response;
    response.text = answer;
    response.stop_reason = StopReason::finished;
    call.result = response;
    return call;
}

inline int addCallWithStep(RunFile& file, const std::string& candidate_id, const std::string& agent,
                           const std::string& title, const std::string& body, const std::string& answer)
{
    AgentStep step;
    step.candidate_id = candidate_id;
    step.agent = agent;
    step.title = title;
    step.body = body;
    step.time_ms = 1'700'000'000'000;
    const auto added = file.addSteps({step});
    if (!added) {
        qFatal("%s", describe(added.error()).c_str());
    }
    if (const auto call = file.addLlmCall(exampleCall(agent, added->front().id, candidate_id, answer)); !call) {
        qFatal("%s", describe(call.error()).c_str());
    }
    return added->front().id;
}

/// A finished conversion in a real file.
inline void writeFastPathRun(const QString& path, const RunConfig& config,
                             const std::vector<AttemptShape>& attempts = exampleAttempts())
{
    auto created = RunFile::create(path.toStdString(), config);
    if (!created) {
        qFatal("%s", describe(created.error()).c_str());
    }
    RunFile& file = **created;
    require(file.setState(RunState::running, {}));
    require(
        file.addBaseline({"host.cu", timedEvaluation(705, 705, true)}, "int host();\n", exampleTimeline(4, 705), true));
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        const AttemptShape& shape = attempts[i];
        Candidate candidate;
        candidate.number = candidate.generation = static_cast<int>(i);
        candidate.id = "c" + std::to_string(i);
        candidate.proposer = "fast path";
        candidate.strategy = toString(shape.stage);
        candidate.summary = "an attempt";
        candidate.directive = {"lsa", "sequential", "world", "cta", 0};
        if (i > 0) {
            const std::string before = "c" + std::to_string(i - 1);
            candidate.parents = {before};
            if (!attempts[i - 1].judgement.empty()) {
                addCallWithStep(file, candidate.id, "judge", "Judge " + before,
                                attempts[i - 1].verifies ? "A program found nothing against it." : "It did not verify.",
                                attempts[i - 1].judgement);
            }
        }
        addCallWithStep(file, candidate.id, "fast path", candidate.summary, "Begins.", "```cuda\n// the program\n```");
        const std::string source = exampleSource(128 << (i % 4), "world") + "// " + candidate.id;
        candidate.source_sha256 = sha256Hex(source);
        if (auto added = file.addCandidate(candidate, source, {}); !added) {
            qFatal("%s", describe(added.error()).c_str());
        }
        candidate.state = CandidateState::settled;
        candidate.evaluation = shape.verifies ? timedEvaluation(620 - 20.0 * static_cast<double>(i), 705, true)
                                              : failedEvaluation(Verdict::compile_error, Stage::compile,
                                                                 "The compiler does not know peer_ptr", 7);
        require(file.settleCandidate(candidate, std::nullopt));
    }
    require(file.setState(RunState::finished, "The program is converted."));
}

}  // namespace cuco::ui::testing
