/* SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What device_trace.cuh leaves in device memory, and how the harness finds it. */

#include <stddef.h>
#include <stdint.h>

#define CUCO_DEVICE_TRACE_VERSION 1
#define CUCO_DEVICE_TRACE_SYMBOL "cuco_device_trace"

enum { cuco_phase_compute = 1, cuco_phase_put = 2, cuco_phase_wait = 3, cuco_phase_copy = 4 };

struct cuco_trace_record {
    uint64_t begin; /* globaltimer, ns; 0: not written */
    uint32_t duration_ns;
    uint32_t phase;
};

/* Records of one group of threads of one launch, in order. A group that fills one claims another. */
struct cuco_trace_chunk {
    uint64_t grid; /* the launch: %gridid */
    uint32_t block;
    uint32_t sm;
    cuco_trace_record records[31];
};

struct cuco_trace_head {
    uint32_t claimed; /* chunks, also those that were not there any more */
    uint32_t dropped; /* records for which there was no room */
    uint64_t unused;
};

/* Device addresses. The symbol is a function of a candidate built for profiling: 0, or a CUDA error. */
struct cuco_device_trace_info {
    int version;
    cuco_trace_head* head;
    cuco_trace_chunk* chunks;
    size_t chunk_count;
};
typedef int (*cuco_device_trace_function)(cuco_device_trace_info*);
