// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/setting_checks.h"

#include <fmt/format.h>

#include <cmath>

namespace cuco {

Result<void> wholeInRange(std::string_view setting, std::int64_t value, std::int64_t least, std::int64_t most)
{
    if (value >= least && value <= most)
        return {};
    return failure(fmt::format("The setting {} is {}", setting, value), {},
                   fmt::format("Choose a number from {} to {}.", least, most));
}

Result<void> realInRange(std::string_view setting, double value, double least, double most)
{
    if (std::isfinite(value) && value >= least && value <= most)
        return {};
    return failure(fmt::format("The setting {} is {:g}", setting, value), {},
                   fmt::format("Choose a number from {:g} to {:g}.", least, most));
}

}  // namespace cuco
