// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace cuco_emu {
namespace {

struct Figure {
    const char* name;
    double Model::*field;
};

#define CUCO_EMU_FIGURE(name) \
    {                         \
#name, &Model::name   \
    }
constexpr Figure figures[] = {
    CUCO_EMU_FIGURE(sm_count),
    CUCO_EMU_FIGURE(real_sm_count),
    CUCO_EMU_FIGURE(gemm_tflops),
    CUCO_EMU_FIGURE(gemm_link_slowdown),
    CUCO_EMU_FIGURE(gemm_fp32_tflops),
    CUCO_EMU_FIGURE(wmma_tflops),
    CUCO_EMU_FIGURE(wgmma_tflops),
    CUCO_EMU_FIGURE(wgmma_group_mflop),
    CUCO_EMU_FIGURE(wmma_warps_per_sm),
    CUCO_EMU_FIGURE(gemm_hbm_gbps),
    CUCO_EMU_FIGURE(gemm_start_us),
    CUCO_EMU_FIGURE(warp_instructions_per_ns),
    CUCO_EMU_FIGURE(instructions_per_access),
    CUCO_EMU_FIGURE(issue_warps_per_sm),
    CUCO_EMU_FIGURE(shared_gbps),
    CUCO_EMU_FIGURE(hbm_gbps),
    CUCO_EMU_FIGURE(hbm_sm_gbps),
    CUCO_EMU_FIGURE(lane_burst_us),
    CUCO_EMU_FIGURE(host_link_gbps),
    CUCO_EMU_FIGURE(link_copy_gbps),
    CUCO_EMU_FIGURE(link_store_gbps),
    CUCO_EMU_FIGURE(link_store_sm_gbps),
    CUCO_EMU_FIGURE(link_load_gbps),
    CUCO_EMU_FIGURE(link_load_sm_gbps),
    CUCO_EMU_FIGURE(copy_start_us),
    CUCO_EMU_FIGURE(copy_gap_us),
    CUCO_EMU_FIGURE(copy_engines),
    CUCO_EMU_FIGURE(local_copy_gbps),
    CUCO_EMU_FIGURE(global_latency_us),
    CUCO_EMU_FIGURE(peer_latency_us),
    CUCO_EMU_FIGURE(shared_latency_us),
    CUCO_EMU_FIGURE(barrier_latency_us),
    CUCO_EMU_FIGURE(grid_barrier_latency_us),
    CUCO_EMU_FIGURE(lsa_signal_us),
    CUCO_EMU_FIGURE(lsa_per_peer_us),
    CUCO_EMU_FIGURE(poll_local_us),
    CUCO_EMU_FIGURE(kernel_host_us),
    CUCO_EMU_FIGURE(kernel_start_us),
    CUCO_EMU_FIGURE(kernel_gap_us),
    CUCO_EMU_FIGURE(block_start_us),
    CUCO_EMU_FIGURE(stream_operation_us),
    CUCO_EMU_FIGURE(host_call_us),
    CUCO_EMU_FIGURE(host_wake_us),
    CUCO_EMU_FIGURE(allocation_us),
    CUCO_EMU_FIGURE(collective_floor_us),
    CUCO_EMU_FIGURE(collective_host_us),
    CUCO_EMU_FIGURE(collective_sms),
    CUCO_EMU_FIGURE(all_gather_gbps),
    CUCO_EMU_FIGURE(reduce_scatter_gbps),
    CUCO_EMU_FIGURE(all_reduce_gbps),
    CUCO_EMU_FIGURE(broadcast_gbps),
    CUCO_EMU_FIGURE(all_to_all_gbps),
    CUCO_EMU_FIGURE(point_to_point_gbps),
    CUCO_EMU_FIGURE(nic_gbps),
    CUCO_EMU_FIGURE(nic_message_us),
    CUCO_EMU_FIGURE(gin_issue_us),
    CUCO_EMU_FIGURE(gin_latency_us),
    CUCO_EMU_FIGURE(gin_unsignalled_us),
    CUCO_EMU_FIGURE(quantum_us),
    CUCO_EMU_FIGURE(clock_ghz),
};
#undef CUCO_EMU_FIGURE

std::string trimmed(const std::string& text)
{
    const auto begin = text.find_first_not_of(" \t\r");
    const auto end = text.find_last_not_of(" \t\r");
    return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

bool set_figure(Model& model, const std::string& key, const std::string& value)
{
    if (key == "device_name") {
        model.device_name = value;
        return !value.empty();
    }
    for (const auto& figure : figures) {
        if (key != figure.name)
            continue;
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        if (end == value.c_str() || *end != '\0' || !std::isfinite(number) || number < 0)
            return false;
        model.*figure.field = number;
        return true;
    }
    return false;
}

}  // namespace

bool read_model(const std::string& path, Model& model, std::string* error)
{
    std::ifstream file(path);
    if (!file) {
        *error = "The model file " + path + " cannot be read.";
        return false;
    }
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        const auto text = trimmed(line.substr(0, line.find('#')));
        if (text.empty())
            continue;
        const auto blank = text.find_first_of(" \t");
        const auto value = blank == std::string::npos ? std::string() : trimmed(text.substr(blank));
        if (!set_figure(model, text.substr(0, blank), value)) {
            *error = path + ", line " + std::to_string(number) + ": \"" + text + "\" is no figure of the model.";
            return false;
        }
    }
    if (model.sm_count < 1 || model.sm_count > 256 || model.real_sm_count < model.sm_count || model.copy_engines < 1) {
        *error = path + ": sm_count must be 1 to 256 and no more than real_sm_count, copy_engines at least 1.";
        return false;
    }
    return true;
}

}  // namespace cuco_emu
