// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/baselines.h"
#include "core/evaluation/evaluation.h"

#include <optional>
#include <string>
#include <vector>

namespace cuco {

/// Medians, and the speed-up over the strongest baseline. On GPUs with its interval, from samples taken in turns;
/// modelled times have none. `baseline_samples_us`: of the strongest in the same run; nothing: as it was measured
/// beforehand. `burst`: iterations that a sample is the mean of. Samples must not be empty.
ShapeTiming timeShape(const std::string& shape, int ranks, std::vector<double> samples_us,
                      const BaselineShape& baselines, bool modelled,
                      std::optional<std::vector<double>> baseline_samples_us = std::nullopt, int burst = 1);

/// On GPUs: sets timing_mismatch when the baseline was much slower while it took turns with the candidate than it is
/// alone: then something of the candidate's went on in the baseline's turns, and the speed-up is worth nothing.
void judgeBaseline(const ShapeTiming& timing, const BaselineShape& alone, Evaluation& evaluation);

/// Sets the verdict when a time is below BaselineShape::least_us by more than 2 %: then the work was not done, or the
/// bound is wrong; in neither case is it a record.
void judgeTime(const ShapeTiming& timing, double least_us, Evaluation& evaluation);

/// Sets timing_mismatch when the events of the candidate's stream and the supervisor's clock tell different
/// stories: work outside the stream, or a clock that was tampered with. Both non-empty.
void judgeClocks(const std::string& shape, const std::vector<double>& host_us, const std::vector<double>& event_us,
                 Evaluation& evaluation);

}  // namespace cuco
