// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/local_node.h"

namespace cuco {

/// This host and others like it: candidates are built here, and their ranks run on all of them, started by mpirun or
/// srun. The cache folder is on a file system that all hosts share, and this program runs on one of them.
class SpanningNode : public LocalNode {
public:
    SpanningNode(std::string name, HostSpan span) : LocalNode(std::move(name)), span_(std::move(span)) {}

    Result<NodeProbe> probe(std::stop_token stop) override;
    std::optional<HostSpan> span() const override { return span_; }
    /// With the network: NCCL needs it between hosts.
    std::vector<std::string> sandbox(const JobFolder& job, bool gpus,
                                     const std::vector<std::filesystem::path>& readable = {}) const override;

private:
    HostSpan span_;
};

}  // namespace cuco
