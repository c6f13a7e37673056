// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/fast_path/judgements.h"

#include "core/agents/fast_path.h"

namespace cuco::ui {

void Judgements::clear()
{
    by_attempt_.clear();
    by_call_.clear();
}

void Judgements::update(RunSession& session)
{
    by_attempt_.clear();
    RunModel* run = session.run();
    if (!run) {
        return;
    }
    const auto steps = run->steps();
    const auto calls = run->llmCalls();
    if (!steps || !calls) {
        return;  // the file does not exist yet; one that is damaged is told of where it was opened
    }
    std::map<int, std::string> attempt_of_step;
    for (const AgentStep& step : *steps) {
        if (const std::string attempt = judgedAttempt(step); !attempt.empty()) {
            attempt_of_step[step.id] = attempt;
            by_attempt_[attempt].finding = step.body;
        }
    }
    for (const LlmCallSummary& call : *calls) {
        const auto judged = attempt_of_step.find(call.step);
        if (judged == attempt_of_step.end() || call.error_kind) {
            continue;
        }
        auto known = by_call_.find(call.id);
        if (known == by_call_.end()) {
            const auto whole = run->llmCall(call.id);
            if (!whole) {
                continue;
            }
            known = by_call_.emplace(call.id, readJudgeAnswer(answerOf(whole->result).text)).first;
        }
        Judgement& judgement = by_attempt_[judged->second];
        judgement.answered = true;
        judgement.answer = known->second;
    }
}

const Judgement* Judgements::find(const std::string& attempt) const
{
    const auto found = by_attempt_.find(attempt);
    return found == by_attempt_.end() ? nullptr : &found->second;
}

}  // namespace cuco::ui
