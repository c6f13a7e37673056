// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files.h"

#include <filesystem>
#include <string>

namespace cuco::test {

/// A workload small enough to evaluate many candidates of: every rank doubles its shard, all ranks gather all.
inline const std::string gather_seed = R"cuda(#include "candidate.h"

#include <new>

struct State {
    cuco_context context;
    int calls = 0;
};
int gather(State& state, const float* mine, float* all, size_t n, cudaStream_t stream);

// EVOLVE-BLOCK-START
// cuco: backend=host placement=sequential sync=world issuer=host chunk=0
CUCO_TUNE(threads, 64, 32, 64, 128);

__global__ void twice(const float* in, float* out, size_t n)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}

int gather(State& state, const float* mine, float* all, size_t n, cudaStream_t stream)
{
    float* slot = all + n * state.context.rank;
    twice<<<unsigned((n + threads - 1) / threads), unsigned(threads), 0, stream>>>(mine, slot, n);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(ncclAllGather(slot, all, n, ncclFloat, state.context.comm, stream));
    return 0;
}
// EVOLVE-BLOCK-END

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    *state = new (std::nothrow) State{*context};
    return *state ? 0 : 1;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    ++s.calls;
    return gather(s, static_cast<const float*>(io->inputs[0]), static_cast<float*>(io->outputs[0]),
                  size_t(s.context.shape[0]), stream);
}

extern "C" void cuco_teardown(void* state) { delete static_cast<State*>(state); }
)cuda";

inline const std::string gather_host = R"cuda(#include "candidate.h"

#include <new>

__global__ void twice(const float* in, float* out, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = 2 * in[i];
}

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    *state = new (std::nothrow) cuco_context(*context);
    return *state ? 0 : 1;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    const auto& context = *static_cast<cuco_context*>(state);
    const size_t n = size_t(context.shape[0]);
    auto* all = static_cast<float*>(io->outputs[0]);
    float* slot = all + n * context.rank;
    twice<<<1, 32, 0, stream>>>(static_cast<const float*>(io->inputs[0]), slot, n);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(ncclAllGather(slot, all, n, ncclFloat, context.comm, stream));
    return 0;
}

extern "C" void cuco_teardown(void* state) { delete static_cast<cuco_context*>(state); }
)cuda";

inline const std::string gather_reference = R"cuda(#include "candidate.h"

__global__ void twice(const float* in, float* out, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = 2 * in[i];
}

extern "C" int cuco_reference(const cuco_context* context, const void* const* inputs, float* const* outputs,
                              cudaStream_t stream)
{
    const size_t n = size_t(context->shape[0]);
    for (int rank = 0; rank < context->ranks; ++rank)
        twice<<<1, 32, 0, stream>>>(static_cast<const float*>(inputs[rank]), outputs[0] + n * rank, n);
    return cuco_error_code(cudaGetLastError());
}
)cuda";

inline const std::string gather_manifest = R"json({
    "format": 1, "name": "gather", "title": "Gather", "summary": "Doubles and gathers.",
    "parameters": ["n"], "ranks": [2], "dtype": "f32",
    "tolerance": {"relative_l2": 1e-6, "max_error": 1e-5},
    "inputs": [{"name": "a", "type": "f32", "elements": "n"}],
    "outputs": [{"name": "c", "type": "f32", "elements": "n * ranks"}],
    "roofline": {"flops": "n", "hbm_bytes": "12 * n", "link_bytes": "4 * n * (ranks - 1)"},
    "shapes": {
        "search": [{"name": "large", "n": 1048576}],
        "verify": [{"name": "odd", "n": 1021}],
        "validation": [],
        "emulated_search": [{"name": "small", "n": 512, "represents": {"n": 1048576}}],
        "emulated_verify": [{"name": "odd", "n": 37}],
        "emulated_validation": [{"name": "held_back", "n": 768, "represents": {"n": 1572864}}]
    },
    "sources": {"host": "host.cu", "seed": "seed.cu", "reference": "reference.cu"},
    "strategies": [],
    "timeouts_s": {"compile": 60, "run": 5}
})json";

/// Writes the workload into a folder that is there.
inline bool writeGatherWorkload(const std::filesystem::path& folder)
{
    return writeFileAtomically(folder / "workload.json", gather_manifest) &&
           writeFileAtomically(folder / "host.cu", gather_host) &&
           writeFileAtomically(folder / "seed.cu", gather_seed) &&
           writeFileAtomically(folder / "reference.cu", gather_reference);
}

/// The seed with `with` in place of `what`.
inline std::string gatherWith(const std::string& what, const std::string& with)
{
    std::string text = gather_seed;
    const auto at = text.find(what);
    return at == std::string::npos ? std::string() : text.replace(at, what.size(), with);
}

}  // namespace cuco::test
