// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/job_store.h"
#include "core/nodes/node.h"

#include <mutex>
#include <optional>

namespace cuco {

/// The CUDA toolkit of this machine.
struct CudaToolkit {
    std::filesystem::path home, nvcc;
    std::string version;  ///< "13.0"
};

/// $CUDA_HOME, $CUDA_PATH, nvcc on PATH, /usr/local/cuda. The error says how to install one.
Result<CudaToolkit> findCudaToolkit(std::stop_token stop);

/// This machine and its NVIDIA GPUs.
class LocalNode : public Node {
public:
    explicit LocalNode(std::string name = "local") : name_(std::move(name)) {}
    const std::string& name() const override { return name_; }
    NodeKind kind() const override { return NodeKind::local; }
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
                                     const std::vector<std::filesystem::path>& readable = {}) const override;

protected:
    std::vector<std::string> sandboxed(const JobFolder& job, bool gpus,
                                       const std::vector<std::filesystem::path>& readable, bool network) const;

private:
    std::vector<std::filesystem::path> gpuLibraries() const;

    const std::string name_;
    JobStore jobs_;
    mutable std::mutex mutex_;
    mutable std::optional<std::vector<std::filesystem::path>> gpu_libraries_;  ///< found once
};

}  // namespace cuco
