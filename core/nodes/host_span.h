// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Several hosts over which a node spreads its ranks, and what starts a program on each of them.
struct HostSpan {
    struct Host {
        std::string name;
        int gpus = 0;  ///< at most so many ranks
    };
    std::string launcher;  ///< "mpirun" or "srun"
    std::vector<Host> hosts;

    int gpus() const;
    /// How many ranks each host gets: evenly, the first ones one more. Errors: fewer ranks than hosts, or more than a
    /// host has GPUs.
    Result<std::vector<int>> deal(int ranks) const;
};

/// "mpirun:gpu-a=4,gpu-b=4"; nothing when the text does not begin with a launcher. Errors: what is wrong with the
/// hosts.
std::optional<Result<HostSpan>> parseHostSpan(std::string_view node_name);

/// The words that go before a program to start it once on every host; srun numbers them in an order of its own. The
/// launcher is asked what it is, for so long: Open MPI and MPICH differ. Errors: it is not installed, does not answer,
/// or is neither.
Result<std::vector<std::string>> launchCommand(const HostSpan& span, std::stop_token stop,
                                               std::chrono::seconds patience = std::chrono::seconds(20));

/// The name of a variable that mpirun and srun need of the environment, or that they make themselves known by.
bool isLauncherVariable(std::string_view name);

}  // namespace cuco
