// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/oracle.h"

#include "candidate.h"
#include "inputs.h"

#include <algorithm>

namespace cuco_harness {

Outcome Oracle::allocate(const ShapeJob& shape, int rank, int ranks)
{
    rank_ = rank;
    ranks_ = ranks;
    inputs_.clear();
    outputs_.clear();
    memory_.clear();
    for (int other = 0; other < ranks; ++other) {
        for (const auto& input : shape.inputs) {
            CUCO_CHECK(memory_.emplace_back().allocate(input.bytes(other)));
            inputs_.push_back(memory_.back().data());
        }
    }
    for (const auto& output : shape.outputs) {
        CUCO_CHECK(memory_.emplace_back().allocate(size_t(output.elements[size_t(rank)]) * sizeof(float)));
        outputs_.push_back(static_cast<float*>(memory_.back().data()));
    }
    return std::nullopt;
}

Outcome Oracle::run(ReferenceFunction reference, const ShapeJob& shape, uint64_t seed, cudaStream_t stream)
{
    for (int other = 0; other < ranks_; ++other) {
        for (size_t b = 0; b < shape.inputs.size(); ++b) {
            const auto& input = shape.inputs[b];
            CUCO_CHECK(check(fillInput(inputs_[size_t(other) * shape.inputs.size() + b], input.type,
                                       input.elements[size_t(other)], seed, other, int(b), stream),
                             "make the inputs again"));
        }
    }
    cuco_context context{};
    context.abi_version = CUCO_ABI_VERSION;
    context.rank = rank_;
    context.ranks = ranks_;
    CUCO_CHECK(check(cudaGetDevice(&context.device), "ask for its GPU"));
    std::copy(shape.parameters.begin(), shape.parameters.end(), context.shape);
    if (const int code = reference(&context, inputs_.data(), outputs_.data(), stream))
        return environmentFailure("The oracle failed: " + candidateFailure(code, "cuco_reference").message);
    return std::nullopt;
}

}  // namespace cuco_harness
