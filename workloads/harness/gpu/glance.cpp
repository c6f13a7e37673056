// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/glance.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cuco_harness {
namespace {

constexpr size_t strip_bytes = 64, most_strips = Glance::longest, glance_bytes = strip_bytes * most_strips;

}  // namespace

Outcome Glance::allocate(int rank)
{
    return check(cudaMallocHost(&strips_[size_t(rank)], 2 * glance_bytes), "allocate host memory");
}

void Glance::begin(int team, int first_set, int length)
{
    team_ = team;
    first_set_ = first_set;
    length_ = length;
}

int Glance::end()
{
    return std::exchange(team_, -1);
}

/// Of all iterations, strips from all over each output; returns what follows in `to`.
Outcome Glance::copy(const AttachedRank& attached, const ShapeJob& shape, int rank, cudaStream_t stream,
                     char*& to) const
{
    const size_t strips = most_strips / size_t(length_) / shape.outputs.size();
    for (int i = 0; i < length_; ++i) {
        const size_t set = size_t(first_set_ + i) % attached.layout.outputs.size();
        for (size_t b = 0; b < shape.outputs.size(); ++b) {
            const size_t bytes = shape.outputs[b].bytes(rank);
            const size_t rows = std::min(strips, bytes / strip_bytes);
            if (rows == 0)
                continue;
            CUCO_CHECK(
                check(cudaMemcpy2DAsync(to, strip_bytes, attached.outputs.data() + attached.layout.outputs[set][b],
                                        bytes / rows, strip_bytes, rows, cudaMemcpyDeviceToHost, stream),
                      "glance at the outputs"));
            to += rows * strip_bytes;
        }
    }
    return std::nullopt;
}

Outcome Glance::take(const AttachedRank& attached, const ShapeJob& shape, int rank, cudaStream_t stream)
{
    char* to = strips_[size_t(rank)];
    return copy(attached, shape, rank, stream, to);
}

Outcome Glance::compare(const AttachedRank& attached, const ShapeJob& shape, int rank, cudaStream_t stream,
                        bool& same) const
{
    char* const before = strips_[size_t(rank)];
    char* to = before + glance_bytes;
    CUCO_CHECK(copy(attached, shape, rank, stream, to));
    CUCO_CHECK(check(cudaStreamSynchronize(stream), "glance at the outputs"));
    const size_t bytes = size_t(to - before) - glance_bytes;
    same = std::memcmp(before, before + glance_bytes, bytes) == 0;
    return std::nullopt;
}

}  // namespace cuco_harness
