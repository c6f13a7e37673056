// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/judgement_text.h"
#include "ui/engine/run_session.h"

#include <map>
#include <optional>
#include <string>

namespace cuco::ui {

/// What was said of an attempt before the next one was asked for.
struct Judgement {
    std::string finding;                ///< a program's, which a judge cannot overrule
    std::optional<JudgeAnswer> answer;  ///< nothing where the judge has not answered, or not readably
    bool answered = false;
};

/// The judgements of a fast path by attempt, read from the run's steps and calls.
class Judgements {
public:
    /// Looks at the run again. An answer that is known already is not read again.
    void update(RunSession& session);
    void clear();
    /// Null: it was not judged.
    const Judgement* find(const std::string& attempt) const;

private:
    std::map<std::string, Judgement> by_attempt_;
    std::map<int, std::optional<JudgeAnswer>> by_call_;
};

}  // namespace cuco::ui
