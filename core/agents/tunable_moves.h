// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/tunable.h"
#include "core/population/parent_selection.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuco {

TunableValues valuesOf(std::span<const Tunable> tunables);

/// The choices next below and next above the tunable's value, as far as there are any.
std::vector<std::int64_t> neighboursOf(const Tunable& tunable);

/// Up to `count` different tunables moved to a neighbouring choice each. Nothing when none can move.
std::optional<TunableValues> movedValues(std::span<const Tunable> tunables, int count, ProposalRandom& random);

/// Each differing value of `other` that is a choice here is taken over with even chance, at least one. Nothing when
/// none differs.
std::optional<TunableValues> crossedValues(std::span<const Tunable> tunables, const TunableValues& other,
                                           ProposalRandom& random);

/// "chunk_rows 512 → 1024, ctas 8 → 16"; empty when nothing changes.
std::string describeChanges(std::span<const Tunable> tunables, const TunableValues& values);

/// Visits all combinations of choices, those with the fewest steps from the current values first, until `visit` says
/// stop by returning true. Gives up after 50,000. Returns whether `visit` did.
bool visitNearestFirst(std::span<const Tunable> tunables, const std::function<bool(const TunableValues&)>& visit);

}  // namespace cuco
