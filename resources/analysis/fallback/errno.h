// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

extern "C" int* __errno_location();
#define errno (*__errno_location())
