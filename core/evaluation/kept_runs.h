// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/harness_job.h"
#include "core/evaluation/harness_report.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <filesystem>
#include <optional>
#include <string>

namespace cuco {

/// A modelled run of one of the product's own programs says the same for ever. Its report is kept in the cache folder,
/// under the hash of the job and of all that the program was built from, once it was found right.
class KeptRun {
public:
    /// Without a key nothing is found and nothing kept.
    KeptRun(const Toolchain& toolchain, const Workload& workload, const HarnessJob& job);

    std::optional<HarnessReport> find() const;
    /// A cache that cannot be written costs time, no more.
    void keep(const HarnessReport& report) const;

private:
    std::filesystem::path file_;
};

}  // namespace cuco
