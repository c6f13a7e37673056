// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace cuco {

/// One of the two accesses of a race.
struct RaceAccess {
    int rank = -1;
    std::string access;                               ///< "read", "write", "atomic" or "copy"
    std::string where;                                ///< "kernel pushToPeers", "ncclAllGather", "host code"
    std::size_t line = 0;                             ///< of the candidate's source; 0: not the candidate's
    std::optional<std::array<int, 3>> block, thread;  ///< in a kernel
};

/// Two accesses to the same memory, one of them a write, that nothing orders.
struct RaceReport {
    std::string shape;
    std::string memory;        ///< "output c", "shared memory", "an allocation of 64 bytes"
    int memory_rank = -1;      ///< whose memory; < 0: no one rank's
    std::int64_t byte = 0;     ///< of that memory
    RaceAccess first, second;  ///< as they happened to come
};

/// "write by rank 0 at line 31, kernel gather, block (0, 0, 0), thread (3, 0, 0)"
std::string describe(const RaceAccess& access);
/// One sentence with both accesses.
std::string describe(const RaceReport& race);

nlohmann::json toJson(const RaceReport& race);
/// Texts longer than 256 bytes are cut, lines out of range become 0.
Result<RaceReport> raceReportFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace cuco
