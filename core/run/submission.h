// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/base/error.h"

#include <deque>
#include <span>
#include <string>

namespace cuco {

class RunFile;

/// A program that a person wrote from a candidate, to be evaluated like any other.
struct Submission {
    std::string parent, source, note;
};

/// Why it can be no candidate, before anything is stored: no markers, no directive.
Result<void> validate(const Submission& submission);

/// The step that keeps a submission until it is a candidate; the run file has its source beside it.
AgentStep toStep(const Submission& submission);

/// Those among the steps that no candidate came of, because the program ended before.
Result<std::deque<Submission>> pendingSubmissions(std::span<const AgentStep> steps,
                                                  std::span<const Candidate> candidates, RunFile& file);

}  // namespace cuco
