// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/spent.h"

#include "wire.h"

#include <utility>

namespace cuco_harness {

Spent::Phase::Phase(Spent& spent, const char* name) : spent_(spent), name_(name), begin_ns_(monotonicNs()) {}

Spent::Phase::~Phase()
{
    spent_.ms_[name_] += double(monotonicNs() - begin_ns_) * 1e-6;
}

ReportLine Spent::takeLine(const std::string& shape)
{
    ReportLine phases;
    for (const auto& [name, ms] : std::exchange(ms_, {}))
        phases.add(name.c_str(), ms);
    ReportLine line("spent");
    if (!shape.empty())
        line.add("shape", shape);
    return line.addJson("ms", phases.text());
}

}  // namespace cuco_harness
