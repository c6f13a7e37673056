// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_controller.h"

#include <filesystem>
#include <memory>
#include <stop_token>

namespace cuco::cli {

/// Prints a line on standard error for each settled candidate and for what else a person waits for.
RunObserver progressPrinter();

/// Starts the run, waits until it ends or `stop` is requested, prints the summary (as JSON on standard output when
/// `json`) and returns the exit code.
int followRun(std::unique_ptr<RunController> run, const std::filesystem::path& file, bool json, std::stop_token stop);

}  // namespace cuco::cli
