// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/host_link.h"
#include "gpu/host_share.h"
#include "job.h"
#include "wire.h"

#include <optional>
#include <string>
#include <vector>

namespace cuco_harness {

/// What an agent is told first.
struct HostStart {
    std::string folder, job;  ///< the job's folder, which every host sees under this path, and its text
    HostShare share;
    Variables environment;  ///< the supervisor's own, of CUDA and NCCL
    std::vector<std::string> sandbox;
    std::vector<Variables> programs;  ///< of each, what is added to its ranks' environment
};
std::string packHostStart(const HostStart& start);
std::optional<HostStart> unpackHostStart(const std::string& bytes);

namespace host_message {
constexpr char start = 'S';
constexpr char done = 'K', failed = 'F';
}  // namespace host_message

/// An agent's streams: the observer, and of each program its launcher and then its ranks.
constexpr size_t observer_stream = 0;
size_t launcherStream(const HostShare& share, size_t program);
size_t rankStream(const HostShare& share, size_t program, int rank);
size_t streamsOf(const HostShare& share, size_t programs);

}  // namespace cuco_harness
