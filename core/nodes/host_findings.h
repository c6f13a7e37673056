// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/subprocess.h"
#include "core/nodes/host_span.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cuco {

/// What launches a survey of all hosts: each prints its name, its number of GPUs, and whether it sees the cache folder.
std::vector<std::string> hostSurveyCommand(const std::vector<std::string>& launch, const std::filesystem::path& cache);

/// What keeps the hosts from being used, read from the survey's output, of which nothing is believed that is not as
/// expected.
std::vector<Error> judgeHosts(const HostSpan& span, const CommandOutcome& survey);

/// Of this process, what launchers need.
std::map<std::string, std::string> launcherVariables();

}  // namespace cuco
