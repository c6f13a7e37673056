// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cuco_emu {

/// Picoseconds since configure.
using Time = std::int64_t;
inline constexpr Time nanosecond = 1'000;
inline constexpr Time microsecond = 1'000'000;

/// The modelled GPU and node. Rates are of the whole GPU; each figure's source stands in h200.model.
struct Model {
    std::string device_name = "NVIDIA H200 (modelled)";
    double sm_count = 16;
    double real_sm_count = 132;

    double gemm_tflops = 840;
    double gemm_link_slowdown = 0.15;
    double gemm_fp32_tflops = 45;
    double wmma_tflops = 350;
    double wgmma_tflops = 680;
    double wgmma_group_mflop = 0.22;
    double wmma_warps_per_sm = 4;
    double gemm_hbm_gbps = 3300;
    double gemm_start_us = 2.0;

    double warp_instructions_per_ns = 927;
    double instructions_per_access = 4;
    double issue_warps_per_sm = 8;
    double shared_gbps = 29000;
    double hbm_gbps = 4000;
    double hbm_sm_gbps = 400;
    double lane_burst_us = 0.43;
    double host_link_gbps = 55;

    double link_copy_gbps = 395;
    double link_store_gbps = 347;
    double link_store_sm_gbps = 335;
    double link_load_gbps = 300;
    double link_load_sm_gbps = 60;
    double copy_start_us = 2.3;
    double copy_gap_us = 2.5;
    double copy_engines = 3;
    double local_copy_gbps = 1500;

    double global_latency_us = 0.6;
    double peer_latency_us = 1.0;
    double shared_latency_us = 0.02;
    double barrier_latency_us = 0.03;
    double grid_barrier_latency_us = 1.2;
    double lsa_signal_us = 1.2;
    double lsa_per_peer_us = 0.085;
    double poll_local_us = 0.3;

    double kernel_host_us = 2.5;
    double kernel_start_us = 3.0;
    double kernel_gap_us = 1.5;
    double block_start_us = 0.3;
    double stream_operation_us = 0.5;
    double host_call_us = 0.2;
    double host_wake_us = 1.5;
    double allocation_us = 50;

    double collective_floor_us = 15;
    double collective_host_us = 4;
    double collective_sms = 2;
    double all_gather_gbps = 298;
    double reduce_scatter_gbps = 298;
    double all_reduce_gbps = 290;
    double broadcast_gbps = 290;
    double all_to_all_gbps = 330;
    double point_to_point_gbps = 352;

    double nic_gbps = 48;
    double nic_message_us = 0.02;
    double gin_issue_us = 0.5;
    double gin_latency_us = 7.8;
    double gin_unsignalled_us = 1000;

    double quantum_us = 1.0;
    double clock_ghz = 1.755;
};

/// False with a sentence naming file and line. Figures that the file leaves out keep their value.
bool read_model(const std::string& path, Model& model, std::string* error);

inline Time from_us(double us)
{
    return static_cast<Time>(us * 1e6);
}

}  // namespace cuco_emu
