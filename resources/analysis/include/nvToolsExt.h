// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

extern "C" {
int nvtxRangePushA(const char* name);
int nvtxRangePop();
void nvtxMarkA(const char* name);
}
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
