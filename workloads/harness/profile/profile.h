/* SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What libcuco_profile.so exports to the process that it is injected into. */

#include <stddef.h>
#include <stdint.h>

#define CUCO_PROFILE_VERSION 1

enum cuco_profile_kind {
    cuco_profile_kernel = 1,
    cuco_profile_copy = 2, /* cudaMemcpy*, whatever it copies from and to */
    cuco_profile_set = 3,
    cuco_profile_sync = 4, /* the host waits for a stream, an event or the device */
    cuco_profile_range = 5 /* an NVTX range of a host thread */
};

/* Flags of a record. */
enum {
    cuco_profile_marked = 1,      /* launched inside an NVTX range "cuco:communication" */
    cuco_profile_peer = 2,        /* a copy between two GPUs */
    cuco_profile_on_device = 4,   /* a copy whose two ends are GPU memory */
    cuco_profile_copy_engine = 8, /* ran on a copy engine, not on the SMs */
    cuco_profile_graph = 16       /* part of a CUDA graph, whose records share one correlation */
};

/* Times are CLOCK_REALTIME ns. */
struct cuco_profile_record {
    uint64_t begin_ns, end_ns;
    uint64_t bytes;
    const char* name; /* kernels as mangled; lives until the next window begins */
    uint32_t kind;
    uint32_t flags;
    uint32_t device, stream;
    uint32_t channel;     /* copies: of the hardware queue, one a copy engine and direction */
    uint32_t correlation; /* with the call that caused it */
};

struct cuco_profile_window {
    const cuco_profile_record* records; /* by begin; live until the next window begins */
    size_t count;
    uint64_t dropped;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Why nothing is recorded, as a sentence; empty when something is. */
const char* cuco_profile_problem(void);
/* 0, or -1 with a problem. One window at a time; the device must be idle at both ends. */
int cuco_profile_begin(void);
int cuco_profile_end(cuco_profile_window* window);

#ifdef __cplusplus
}
#endif
