// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/conditions.h"

#include <dlfcn.h>

namespace cuco_harness {
namespace {

// From NVML's manual; its header is not part of every toolkit.
using Device = void*;
struct ProcessInfo {
    unsigned int pid;
    unsigned long long used_bytes;
    unsigned int gpu_instance, compute_instance;
};
constexpr int nvml_success = 0, sm_clock = 1, memory_clock = 2, gpu_temperature = 0;
constexpr unsigned max_processes = 256;
constexpr unsigned long long unknown_memory = ~0ull;

struct Reason {
    unsigned long long bit;
    const char* name;
};
constexpr Reason reasons[] = {{0x4, "sw_power_cap"},    {0x8, "hw_slowdown"},       {0x10, "sync_boost"},
                              {0x20, "sw_thermal"},     {0x40, "hw_thermal"},       {0x80, "hw_power_brake"},
                              {0x100, "display_clock"}, {0x2, "application_clocks"}};

template <class... Arguments>
bool call(void* library, const char* name, Arguments... arguments)
{
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
    return function && function(arguments...) == nvml_success;
}

}  // namespace

Conditions::Conditions()
{
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ && !call(library_, "nvmlInit_v2")) {
        dlclose(library_);
        library_ = nullptr;
    }
}

Conditions::~Conditions()
{
    if (library_) {
        call(library_, "nvmlShutdown");
        dlclose(library_);
    }
}

GpuCondition Conditions::of(const std::string& pci_bus_id) const
{
    GpuCondition now;
    Device device = nullptr;
    if (!library_ || !call(library_, "nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device))
        return now;
    unsigned int value = 0;
    if (call(library_, "nvmlDeviceGetClockInfo", device, sm_clock, &value))
        now.sm_mhz = int(value);
    if (call(library_, "nvmlDeviceGetClockInfo", device, memory_clock, &value))
        now.memory_mhz = int(value);
    if (call(library_, "nvmlDeviceGetTemperature", device, gpu_temperature, &value))
        now.temperature_c = int(value);
    if (call(library_, "nvmlDeviceGetPowerUsage", device, &value))
        now.power_w = value * 1e-3;
    unsigned long long bits = 0;
    if (call(library_, "nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits)) {
        for (const auto& reason : reasons) {
            if (bits & reason.bit)
                now.throttling.emplace_back(reason.name);
        }
    }
    std::vector<ProcessInfo> processes(max_processes);
    unsigned int count = max_processes;
    if (call(library_, "nvmlDeviceGetComputeRunningProcesses_v3", device, &count, processes.data())) {
        for (unsigned i = 0; i < count && i < max_processes; ++i)
            now.processes.push_back({int64_t(processes[i].pid), processes[i].used_bytes == unknown_memory
                                                                    ? 0
                                                                    : uint64_t(processes[i].used_bytes)});
    }
    return now;
}

std::string toJson(const std::vector<GpuCondition::Process>& processes)
{
    std::string json = "[";
    for (const auto& process : processes)
        json += (json.size() > 1 ? ",{\"pid\":" : "{\"pid\":") + std::to_string(process.pid) +
                ",\"memory_bytes\":" + std::to_string(process.memory_bytes) + "}";
    return json + "]";
}

}  // namespace cuco_harness
