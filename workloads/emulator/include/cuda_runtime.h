// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuco_emu/abi.h"
#include "cuco_emu/device.h"
#include "cuco_emu/host_api.h"
#include "cuco_emu/math.h"
#include "cuco_emu/types.h"
