// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/node.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuco {

/// What nvidia-smi says of one GPU. A text is empty where this driver does not know the field or the GPU lacks the
/// feature.
struct GpuState {
    GpuInfo info;
    std::string compute_capability;  ///< "9.0"
    std::string compute_mode;        ///< "Default", "Exclusive_Process", "Prohibited"
    std::string mig_mode;            ///< "Enabled"
    std::string recovery_action;     ///< "None", "Reset", "Reboot", …
    std::string pending_repair;      ///< "Yes": pages to retire or rows to remap at the next reset
    std::string uncorrected_errors;  ///< a number: since the driver was loaded
    std::string error;               ///< what stands in a field that cannot be read: "ERR!", "GPU is lost"
};

/// nvidia-smi's answer to --query-gpu for `fields`, one GPU a line; `fields` name the columns.
std::vector<GpuState> parseGpuStates(const std::vector<std::string>& fields, std::string_view csv);

/// The answer to --query-compute-apps=gpu_uuid,pid,process_name,used_memory.
std::vector<GpuNeighbour> parseNeighbours(std::string_view csv, const std::vector<GpuState>& gpus);

/// Pairs of GPUs that cannot reach each other's memory, from `nvidia-smi topo -p2p r`; nothing for an answer that does
/// not read so.
std::vector<std::pair<int, int>> parseMissingPeers(std::string_view topology);

/// "13.0": the newest CUDA that the driver runs, from nvidia-smi's own table; empty when it is not there.
std::string parseDriverCuda(std::string_view table);

/// Those that CUDA_VISIBLE_DEVICES leaves; all when it is not set.
std::vector<GpuState> visibleGpus(std::vector<GpuState> gpus, const char* visible_devices);

/// How the user has told NCCL and CUDA about this machine (NCCL_*, CUDA_VISIBLE_DEVICES); some need it to work at all.
std::map<std::string, std::string> gpuVariables();

struct GpuSurvey {
    std::vector<GpuState> gpus;
    std::vector<GpuNeighbour> neighbours;
    std::vector<std::pair<int, int>> missing_peers;
    std::string driver_cuda;
    std::vector<Error> problems;  ///< of nvidia-smi itself
};

/// Asks nvidia-smi. A field that this driver does not know is left out; an nvidia-smi that hangs is ended.
GpuSurvey surveyGpus(const std::filesystem::path& nvidia_smi, std::stop_token stop,
                     std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace cuco
