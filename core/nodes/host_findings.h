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

/// What launches a survey of all hosts: each prints its name, its number of GPUs, and whether it sees this folder,
/// which was made just now in the cache: a cache folder of its own each host may have.
std::vector<std::string> hostSurveyCommand(const std::vector<std::string>& launch, const std::filesystem::path& folder);

/// What keeps the hosts from being used, read from the survey's output, of which nothing is believed that is not as
/// expected. The GPUs of a host that is called by an address or an alias are not compared.
std::vector<Error> judgeHosts(const HostSpan& span, const CommandOutcome& survey);

/// Of this process, what launchers need.
std::map<std::string, std::string> launcherVariables();

}  // namespace cuco
