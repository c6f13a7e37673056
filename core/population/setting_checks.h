// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string_view>

namespace cuco {

/// Faults that name the setting, its value and the range; both ends belong to it.
Result<void> wholeInRange(std::string_view setting, std::int64_t value, std::int64_t least, std::int64_t most);
/// Also a fault when it is not finite.
Result<void> realInRange(std::string_view setting, double value, double least, double most);

}  // namespace cuco
