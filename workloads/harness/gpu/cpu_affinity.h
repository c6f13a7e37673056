// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cuco_harness {

/// The CPUs for each rank: near its GPU, whole cores, disjoint, none twice, and the first core for nobody, so that what
/// spins for the clock never shares a core. bus_ids[i] is the PCI bus id of rank i's GPU. Empty lists where there are
/// fewer than two cores a rank.
std::vector<std::vector<int>> cpusOfRanks(const std::vector<std::string>& bus_ids);

/// As /sys writes them: "0-3,8,10-11". Out of place characters end it.
std::vector<int> parseCpuList(const std::string& text);

/// Cores of `cpus` (each a list of CPUs that share one) dealt to `ranks` in blocks, after the first.
std::vector<std::vector<int>> dealCores(const std::vector<std::vector<int>>& cores, int ranks);

/// This thread and those it will start stay on these CPUs. Nothing is done with none; a refusal is ignored, because
/// then times are only noisier.
void stayOn(const std::vector<int>& cpus);

}  // namespace cuco_harness
