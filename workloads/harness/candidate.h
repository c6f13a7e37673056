/* SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CUCO_CANDIDATE_H
#define CUCO_CANDIDATE_H

/* What a candidate implements. One translation unit, built as a shared object and loaded by one process
 * (on the emulated node: one simulated process) a rank. The harness owns inputs, clock and verification. */

#include <cuda_runtime.h>
#include <nccl.h>
#include <stddef.h>
#include <stdint.h>

#define CUCO_ABI_VERSION 1
#define CUCO_MAX_SHAPE_PARAMETERS 16

/* A number worth tuning: name, value, choices. The value is what is compiled; the rest is for the search. */
#define CUCO_TUNE(name, value, ...) constexpr long long name = value

/* Codes that cuco_setup and cuco_run return: bits 0-15 say what failed (a CUDA error as it is, an NCCL result
 * or another library's status above its base), bits 16-30 the candidate's line, 0 when unknown. */
#define CUCO_NCCL_ERROR_BASE 10000
#define CUCO_LIBRARY_ERROR_BASE 20000

typedef struct cuco_context {
    int abi_version;
    int rank, ranks;
    ncclComm_t comm;                          /* for this candidate alone */
    int64_t shape[CUCO_MAX_SHAPE_PARAMETERS]; /* the workload's parameters in the manifest's order */
    int device;                               /* CUDA ordinal, already current */
    int sm_count;
    int64_t l2_bytes;
    /* Memory from ncclMemAlloc with the same layout on every rank, in which all outputs lie. It is not
     * registered: a candidate that wants a window over it registers it in cuco_setup. */
    void* symmetric_base;
    size_t symmetric_bytes;
} cuco_context;

/* Pointers of one iteration, in the manifest's order. They move between iterations; an output has the same
 * offset from symmetric_base on every rank. */
typedef struct cuco_io {
    const void* const* inputs;
    void* const* outputs;
} cuco_io;

#ifdef __cplusplus
extern "C" {
#endif

/* Not timed. Windows, device communicators, streams, scratch memory. 0, or an error code; teardown follows
 * whenever *state was set. */
int cuco_setup(const cuco_context* context, void** state);
/* One iteration; everything it does is ordered on `stream`. A peer's outputs are the peer's until its own stream has
 * come to this iteration: meet before writing there. 0, or an error code. */
int cuco_run(void* state, const cuco_io* io, cudaStream_t stream);
void cuco_teardown(void* state);

/* In reference.cu instead: the oracle. Writes the rank's outputs from the inputs of all ranks:
 * inputs[r * input_count + i] is input i of rank r. Accumulates in float32 or better; outputs are float32. */
int cuco_reference(const cuco_context* context, const void* const* inputs, float* const* outputs, cudaStream_t stream);

#ifdef __cplusplus
}

inline int cuco_error_code(cudaError_t error)
{
    return static_cast<int>(error);
}
inline int cuco_error_code(ncclResult_t result)
{
    return result == ncclSuccess ? 0 : CUCO_NCCL_ERROR_BASE + static_cast<int>(result);
}
/* cuBLAS and other libraries: an enumeration in which 0 is success. */
template <class Status>
inline int cuco_error_code(Status status)
{
    return static_cast<int>(status) == 0 ? 0 : CUCO_LIBRARY_ERROR_BASE + static_cast<int>(status);
}

/* A code of a function that used CUCO_TRY itself. */
inline int cuco_error_code(int code)
{
    return code;
}
inline int cuco_error_at(int code, int line)
{
    return code < 0x10000 && line < 0x8000 ? code | line << 16 : code;
}

/* In a function that returns such a code: passes a failed call on, with its line. */
#define CUCO_TRY(call)                                       \
    do {                                                     \
        if (const int cuco_try_code = cuco_error_code(call)) \
            return cuco_error_at(cuco_try_code, __LINE__);   \
    } while (0)
#endif

#endif
