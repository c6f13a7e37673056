// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/evaluation/data_paths.h"
#include "core/evaluation/evaluation.h"

#include <set>
#include <string>

namespace cuco {

class RunFile;
struct RunConfig;

/// The screen of the cascade for a run's sources, without its node: what is wrong with a text before anything is built.
class RunScreen {
public:
    /// Errors: nothing can be evaluated in the run (another program's, imported); its workload is not here, or has no
    /// source whose frozen code is that of all candidates.
    static Result<RunScreen> create(const DataPaths& paths, RunFile& file, const RunConfig& config);

    /// Verified where nothing is wrong.
    Evaluation check(const std::string& source) const;

private:
    RunScreen(KernelSource frozen, DesignSpace design_space, std::set<std::string> capabilities);

    KernelSource frozen_;
    DesignSpace design_space_;
    std::set<std::string> capabilities_;  ///< of the node that the run was on last
};

}  // namespace cuco
