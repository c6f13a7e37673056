// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/host_compiler.h"
#include "core/nodes/toolchain.h"
#include "core/nodes/workload_headers.h"

#include <string>
#include <vector>

namespace cuco {

/// CUDA sources as C++ programs of this machine, against workloads/emulator. Harness and references are built
/// once and kept in the cache folder under the hash of everything that went into them.
class EmulatorToolchain : public Toolchain {
public:
    /// `workloads` has the folders harness and emulator.
    explicit EmulatorToolchain(std::filesystem::path workloads) : workloads_(std::move(workloads)) {}

    Result<void> prepare(Node& node, const Workload& workload, std::stop_token stop) override;
    Result<std::expected<void, BuildFault>> build(Node& node, const JobFolder& job, const std::string& source,
                                                  std::stop_token stop) override;
    Result<std::filesystem::path> buildOwn(Node& node, const std::filesystem::path& source,
                                           std::stop_token stop) override;
    Command harnessCommand(const Node& node, const JobFolder& job, const std::string& mode) const override;
    HarnessFiles files() const override;
    DeviceRates rates() const override { return rates_; }
    std::string modelKey() const override { return runtime_hash_; }

private:
    Result<void> prepareHarness(Node& node, std::stop_token stop);
    Result<void> prepareReference(Node& node, const Workload& workload, std::stop_token stop);
    Result<std::filesystem::path> buildObject(Node& node, const std::filesystem::path& source,
                                              std::vector<std::string> flags, std::stop_token stop);
    std::vector<std::string> compilerCommand(const std::vector<std::string>& flags) const;

    std::filesystem::path workloads_;
    HostCompiler compiler_;
    std::vector<std::string> candidate_flags_;
    WorkloadHeaders headers_;
    std::string runtime_hash_;  ///< of emulator, harness and compiler
    std::filesystem::path harness_, reference_;
    std::chrono::seconds compile_timeout_{120}, run_timeout_{60};
    DeviceRates rates_;
};

}  // namespace cuco
