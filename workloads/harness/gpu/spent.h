// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.h"

#include <cstdint>
#include <map>
#include <string>

namespace cuco_harness {

/// Where a job's time goes, by phase. Phases do not lie in one another.
class Spent {
public:
    /// Counts from here to its end.
    class Phase {
    public:
        Phase(Spent& spent, const char* name);
        ~Phase();
        Phase(const Phase&) = delete;
        Phase& operator=(const Phase&) = delete;

    private:
        Spent& spent_;
        const char* const name_;
        const int64_t begin_ns_;
    };

    /// What was counted since the last line; `shape` may be empty.
    ReportLine takeLine(const std::string& shape);

private:
    std::map<std::string, double> ms_;
};

}  // namespace cuco_harness
