// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "stddef.h"

extern "C" {
unsigned sleep(unsigned seconds);
int usleep(unsigned us);
int gethostname(char* name, size_t bytes);
int getpid();
int close(int file);
}
