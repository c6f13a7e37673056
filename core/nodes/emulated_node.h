// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/job_store.h"
#include "core/nodes/node.h"

namespace cuco {

/// This machine without its GPUs: candidates are compiled as C++ against the emulator. Needs a C++
/// compiler and nothing else; all times are modelled.
class EmulatedNode : public Node {
public:
    const std::string& name() const override { return name_; }
    NodeKind kind() const override { return NodeKind::emulated; }
    Result<NodeProbe> probe(std::stop_token stop) override;
    Result<std::shared_ptr<JobFolder>> createJob() override { return jobs_.createJob(); }
    Result<void> put(const JobFolder& job, const std::string& file_name, std::string_view bytes) override
    {
        return jobs_.put(job, file_name, bytes);
    }
    Result<std::string> fetch(const JobFolder& job, const std::string& file_name, std::uint64_t max_bytes) override
    {
        return jobs_.fetch(job, file_name, max_bytes);
    }
    Result<CommandOutcome> run(const Command& command, std::stop_token stop) override
    {
        return jobs_.run(command, stop);
    }
    std::vector<std::string> sandbox(const JobFolder& job, bool gpus,
                                     const std::vector<std::filesystem::path>& readable = {}) const override
    {
        return jobs_.sandbox(job, gpus, readable);
    }

private:
    std::string name_ = "emulated";
    JobStore jobs_;
};

}  // namespace cuco
