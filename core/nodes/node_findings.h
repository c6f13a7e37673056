// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/gpu_query.h"

#include <string>

namespace cuco {

/// What keeps a node from being used, and what does not but matters.
struct NodeFindings {
    std::vector<Error> problems, remarks;
};
void report(NodeFindings findings, NodeProbe& probe);

/// `toolkit_version` is "13.0", empty when there is no toolkit. `has_compatibility_driver`: the toolkit brings a newer
/// libcuda for the installed driver. `least`: how many GPUs there must be.
NodeFindings judgeGpus(const GpuSurvey& survey, const std::string& toolkit_version, bool has_compatibility_driver,
                       std::size_t least = 2);

/// A toolkit that is too old for the harness.
std::vector<Error> judgeToolkit(const std::string& version);

/// Too little free space where jobs and built programs are kept: a problem below 1 GiB, a remark below 8 GiB.
NodeFindings judgeSpace(const std::filesystem::path& folder, std::uint64_t free_bytes);

}  // namespace cuco
