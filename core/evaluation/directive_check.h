// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/design/directive_evidence.h"
#include "core/evaluation/evaluation.h"
#include "core/source/analysis.h"

#include <optional>
#include <stop_token>

namespace cuco {

/// A directive that its code belies.
struct DirectiveContradiction {
    std::string message;   ///< a sentence
    std::size_t line = 0;  ///< of what belies it; 0: none
};

/// Only what code shows without doubt counts: by which backend it communicates, whether copy engines do it, and whether
/// one kernel computes and communicates. What cannot be told apart in code is believed: the other placements, the
/// scope of synchronisation, which threads of a kernel issue.
std::optional<DirectiveContradiction> contradictionOf(const Directive& directive, const DirectiveEvidence& evidence);

/// Analyses the source and makes a false directive the verdict invalid_directive. What kept it from being analysed
/// becomes a remark. Errors: none that a candidate causes.
Result<void> checkDirective(AnalysisRequest analysis, const std::string& source, Evaluation& evaluation,
                            std::stop_token stop);

}  // namespace cuco
