// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"

#include <string>

namespace cuco {

/// What became of a candidate, for the model that wrote it or judges it: compiler's lines, first wrong elements and
/// where they lie, a race's two accesses. Markdown with fences around what the candidate had a say in. The same for an
/// evaluation that was read from a run file. Empty when there is nothing beyond the verdict's message.
std::string failureDetail(const Evaluation& evaluation);

/// How fast a verified candidate is and what its time goes to: times against the strongest baseline and the bound,
/// what communication is exposed, the critical path. Markdown; says when figures are modelled or self-reported. Empty
/// when nothing was timed.
std::string performanceDetail(const Evaluation& evaluation);

}  // namespace cuco
