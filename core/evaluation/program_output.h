// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/subprocess.h"
#include "core/evaluation/evaluation.h"
#include "core/workload/program.h"

#include <expected>
#include <string>
#include <vector>

namespace cuco {

struct ProgramTimes {
    std::vector<double> rank_us;  ///< what each rank says that it took
    double makespan_us = 0;       ///< the longest of them
};

struct ProgramFault {
    Verdict verdict = Verdict::crash;
    std::string message, detail;
};

/// What a program said of itself on standard output. Faults: it failed or was ended; a rank did not say that it passed,
/// or told no time, two, or one that cannot be: not a positive number, or longer than the whole program ran.
std::expected<ProgramTimes, ProgramFault> readProgramOutput(const ProgramSpec& spec, int ranks,
                                                            const CommandOutcome& outcome, const CommandLimits& limits);

}  // namespace cuco
