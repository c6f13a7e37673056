// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <vector>

namespace cuco {

/// `CUCO_TUNE(name, value, choice, choice, …)` in an evolve block: an integer worth searching.
struct Tunable {
    std::string name;
    std::int64_t value = 0;
    std::vector<std::int64_t> choices;           ///< contains value
    std::size_t line = 0;                        ///< 1-based
    std::size_t value_begin = 0, value_end = 0;  ///< byte range of the value's token in the file
};

using TunableValues = std::map<std::string, std::int64_t>;

/// Faults: a value or choice that is no integer literal, a value that is not a choice, a name twice,
/// a declaration in frozen code. Comments and strings are skipped.
std::expected<std::vector<Tunable>, SourceFault> findTunables(const KernelSource& source);

/// The text with the named tunables set; names not in `values` keep theirs.
/// Faults: an unknown name, a value that is not one of its choices.
std::expected<std::string, SourceFault> withTunables(const KernelSource& source, const TunableValues& values);

}  // namespace cuco
