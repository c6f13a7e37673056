// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluator_factory.h"
#include "core/run/run_controller.h"
#include "core/run/run_models.h"

#include <filesystem>
#include <memory>

namespace cuco {

/// A controller on a new file; the file is not created when a part cannot be made.
Result<std::unique_ptr<RunController>> newRun(const DataPaths& paths, const std::filesystem::path& file,
                                              const RunConfig& config, RunObserver observer, ModelAccess access = {});
/// A controller on an existing file, to resume it or to decide in it.
Result<std::unique_ptr<RunController>> openRun(const DataPaths& paths, const std::filesystem::path& file,
                                               RunObserver observer, ModelAccess access = {});

/// From the folder it was loaded from; when the run came from another machine, the product's own of that name.
Result<Workload> workloadOf(const DataPaths& paths, const RunConfig& config);

/// The evaluator of a run's workload on its node, not prepared: for deciding in a run that is not gone on with.
Result<std::unique_ptr<CandidateEvaluator>> evaluatorOf(const DataPaths& paths, const RunConfig& config);

}  // namespace cuco
