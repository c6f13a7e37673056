// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "prefill_layers.cuh"

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <new>

// The layers of host.cu and nothing else: no keys and values arrive, so the result is wrong by design. What a candidate
// takes longer than this is communication that it does not hide.
namespace {

using prefill::Bf16;

struct State {
    prefill::Problem p;
    prefill::Layers work;
    Bf16* projections = nullptr;
};

}  // namespace

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->p = prefill::problemOf(*context);
    if (!s->p.prefills())
        return 0;
    CUCO_TRY(s->work.make(s->p));
    CUCO_TRY(cudaMalloc(&s->projections, size_t(3 * s->p.tokens()) * sizeof(Bf16)));
    return 0;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto* s = static_cast<State*>(state);
    const prefill::Problem& p = s->p;
    if (!p.prefills())
        return 0;
    auto* x = static_cast<float*>(io->outputs[1]);
    CUCO_TRY(cudaMemcpyAsync(x, io->inputs[0], size_t(p.sequence * p.hidden) * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        const Bf16* weights = s->work.weightsOf(io->inputs[1], layer);
        CUCO_TRY(s->work.begin(x, stream));
        CUCO_TRY(s->work.project(weights, s->projections, 0, 3));
        CUCO_TRY(s->work.finish(weights, s->projections, x, stream));
    }
    return 0;
}

extern "C" void cuco_teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->work.free();
    cudaFree(s->projections);
    delete s;
}
