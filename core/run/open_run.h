// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluator.h"
#include "core/run/run_controller.h"

#include <filesystem>
#include <memory>

namespace cuco {

/// Where the installed or built product keeps its data: resources/ and workloads/.
struct DataPaths {
    std::filesystem::path resources, workloads;
    /// $CUCO_DATA_DIR, beside the program, or the installation prefix's share/cuco, in this order.
    static Result<DataPaths> find();
};

/// "emulated" or "local"; an empty name: the first that can run. Errors name the nodes there are.
Result<std::shared_ptr<Node>> makeNode(const std::string& name);
Result<std::unique_ptr<Evaluator>> makeEvaluator(const DataPaths& paths, const std::string& node_name,
                                                 const Workload& workload, int ranks);

/// A controller on a new file; the file is not created when a part cannot be made.
Result<std::unique_ptr<RunController>> newRun(const DataPaths& paths, const std::filesystem::path& file,
                                              const RunConfig& config, RunObserver observer);
/// A controller on an existing file, to resume it or to decide in it.
Result<std::unique_ptr<RunController>> openRun(const DataPaths& paths, const std::filesystem::path& file,
                                               RunObserver observer);

}  // namespace cuco
