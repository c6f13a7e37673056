// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cuco_harness {

/// A GPU at one moment, as NVML tells. What NVML does not tell is negative or empty.
struct GpuCondition {
    int sm_mhz = -1, memory_mhz = -1, temperature_c = -1;
    double power_w = -1;
    std::vector<std::string> throttling;  ///< "sw_power_cap", "hw_thermal", …; idling is not throttling
    struct Process {
        int64_t pid;
        uint64_t memory_bytes;
    };
    std::vector<Process> processes;  ///< with a CUDA context on it
};

/// NVIDIA's management library, when it is there. Without it conditions are unknown, which is no failure.
class Conditions {
public:
    Conditions();
    ~Conditions();
    Conditions(const Conditions&) = delete;
    Conditions& operator=(const Conditions&) = delete;

    /// By PCI bus id ("0000:1B:00.0"), since numbers differ between CUDA and NVML.
    GpuCondition of(const std::string& pci_bus_id) const;

private:
    void* library_ = nullptr;
};

/// JSON of a list of processes: [{"pid":1,"memory_bytes":2}].
std::string toJson(const std::vector<GpuCondition::Process>& processes);

}  // namespace cuco_harness
