// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/local_node.h"
#include "core/nodes/toolchain.h"
#include "core/nodes/workload_headers.h"

#include <string>
#include <vector>

namespace cuco {

/// CUDA sources for the GPUs of this machine, by nvcc against an NCCL whose header and library are of one version.
/// Harness and references are kept in the cache folder under the hash of everything that went into them.
class CudaToolchain : public Toolchain {
public:
    /// `workloads` has the folder harness. An empty architecture ("sm_90a") is asked of the first GPU.
    explicit CudaToolchain(std::filesystem::path workloads, std::string architecture = {})
        : workloads_(std::move(workloads)), architecture_(std::move(architecture))
    {
    }

    Result<void> prepare(Node& node, const Workload& workload, std::stop_token stop) override;
    Result<std::expected<void, BuildFault>> build(Node& node, const JobFolder& job, const std::string& source,
                                                  std::stop_token stop) override;
    Result<std::filesystem::path> buildOwn(Node& node, const std::filesystem::path& source,
                                           std::stop_token stop) override;
    Result<std::expected<void, BuildFault>> buildProfiled(Node& node, const JobFolder& job, const std::string& source,
                                                          std::stop_token stop) override;
    std::map<std::string, std::string> profileVariables() const override;
    Command harnessCommand(const Node& node, const JobFolder& job, const std::string& mode) const override;
    HarnessFiles files() const override;
    DeviceRates rates() const override { return {}; }

private:
    Result<void> findParts(Node& node, std::stop_token stop);
    Result<void> prepareHarness(Node& node, std::stop_token stop);
    Result<void> prepareProfiler(Node& node, std::stop_token stop);
    Result<std::expected<void, BuildFault>> compile(Node& node, const JobFolder& job, const std::string& source,
                                                    const std::string& object, const std::vector<std::string>& flags,
                                                    std::stop_token stop);
    std::vector<std::string> compilerCommand() const;
    std::vector<std::string> libraries() const;

    std::filesystem::path workloads_;
    std::string architecture_;
    CudaToolkit toolkit_;
    NcclInstall nccl_;
    WorkloadHeaders headers_;
    std::string runtime_hash_;  ///< of harness, compiler, NCCL and architecture
    std::filesystem::path harness_, reference_, profiler_;
    Error profiler_problem_;
    std::chrono::seconds compile_timeout_{120}, run_timeout_{60};
};

}  // namespace cuco
