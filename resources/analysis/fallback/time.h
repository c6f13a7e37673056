// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

extern "C" {
typedef long time_t;
typedef long clock_t;
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
time_t time(time_t* now);
clock_t clock();
int clock_gettime(int clock, struct timespec* now);
}
#define CLOCK_MONOTONIC 1
#define CLOCK_REALTIME 0
#define CLOCKS_PER_SEC 1000000
