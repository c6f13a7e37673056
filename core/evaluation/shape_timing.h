// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"

#include <string>
#include <vector>

namespace cuco {

/// Times of one shape by the strongest baseline.
struct BaselineTimes {
    std::string name;
    std::vector<double> samples_us;
};

/// Medians, speed-up with its interval, and the bound (0: none is known). Samples must not be empty.
ShapeTiming timeShape(std::string shape, int ranks, std::vector<double> samples_us, BaselineTimes baseline,
                      double bound_us, bool modelled);

/// Sets the verdict when a time is below its bound by more than 2 %: then the work was not done, or the bound is
/// wrong; in neither case is it a record.
void judgeTimes(Evaluation& evaluation);

/// Sets timing_mismatch when the events of the candidate's stream and the supervisor's clock tell different
/// stories: work outside the stream, or a clock that was tampered with. Both non-empty.
void judgeClocks(const std::string& shape, const std::vector<double>& host_us, const std::vector<double>& event_us,
                 Evaluation& evaluation);

}  // namespace cuco
