// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/race.h"

/// What atomic and volatile variables, fences and barriers carry from one actor of the race checker to another.
namespace cuco_emu {

enum Reach { within_block, within_device, everywhere };

/// What the actor knows and has done, for whom finds it; what it does from now on is later.
ClockRef published(RaceActor& actor);
void forget_race_variables();

}  // namespace cuco_emu
