// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "buffers.h"

#include "inputs.h"

namespace cuco_harness {

Buffers::~Buffers()
{
    if (input_region_)
        cudaFree(input_region_);
    if (region_)
        ncclMemFree(region_);
}

Outcome Buffers::allocate(const ShapeJob& shape, int rank, int sets)
{
    shape_ = &shape;
    rank_ = rank;
    layout_ = layOut(shape, rank, sets);
    void *outputs = nullptr, *inputs = nullptr;
    CUCO_CHECK(check(ncclMemAlloc(&outputs, layout_.output_bytes), "allocate the outputs"));
    region_ = static_cast<char*>(outputs);
    CUCO_CHECK(check(cudaMalloc(&inputs, layout_.input_bytes), "allocate the inputs"));
    input_region_ = static_cast<char*>(inputs);
    CUCO_CHECK(check(cudaMemset(region_, guard_byte, layout_.output_bytes), "fill the guard zones"));
    CUCO_CHECK(check(cudaMemset(input_region_, guard_byte, layout_.input_bytes), "fill the guard zones"));
    for (const auto& set : layout_.outputs) {
        auto& pointers = outputs_.emplace_back();
        for (const size_t offset : set)
            pointers.push_back(region_ + offset);
    }
    for (const auto& set : layout_.inputs) {
        auto& pointers = inputs_.emplace_back();
        for (const size_t offset : set)
            pointers.push_back(input_region_ + offset);
    }
    return std::nullopt;
}

Outcome Buffers::fillInputs(int set, uint64_t seed, cudaStream_t stream)
{
    for (size_t i = 0; i < shape_->inputs.size(); ++i) {
        const auto& input = shape_->inputs[i];
        CUCO_CHECK(check(fillInput(const_cast<void*>(inputs_[size_t(set)][i]), input.type,
                                   input.elements[size_t(rank_)], seed, rank_, int(i), stream),
                         "make the inputs"));
    }
    return std::nullopt;
}

Outcome Buffers::poisonOutputs(int set, cudaStream_t stream)
{
    for (size_t i = 0; i < shape_->outputs.size(); ++i) {
        CUCO_CHECK(
            check(cudaMemsetAsync(outputs_[size_t(set)][i], poison_byte, shape_->outputs[i].bytes(rank_), stream),
                  "poison the outputs"));
    }
    return std::nullopt;
}

void Buffers::protect(RankLink& link) const
{
    for (const auto& gap : layout_.gaps) {
        char* const begin = beginOf(gap);
        // Watching works in words; what precedes the first whole one is seen by checkGuards.
        const size_t skipped = (8 - reinterpret_cast<uintptr_t>(begin) % 8) % 8;
        if (gap.bytes > skipped)
            link.protect(begin + skipped, gap.bytes - skipped, false, "the guard zone " + gap.place);
    }
    for (const auto& set : outputs_) {
        for (size_t i = 0; i < set.size(); ++i)
            link.name(set[i], shape_->outputs[i].bytes(rank_), "output " + shape_->outputs[i].name);
    }
    for (const auto& set : inputs_) {
        for (size_t i = 0; i < set.size(); ++i)
            link.protect(set[i], shape_->inputs[i].bytes(rank_), true, "input " + shape_->inputs[i].name);
    }
}

Outcome Buffers::checkGuards(RankLink& link) const
{
    std::vector<unsigned char> bytes;
    for (const auto& gap : layout_.gaps) {
        bytes.resize(gap.bytes);
        CUCO_CHECK(check(link.read(bytes.data(), beginOf(gap), gap.bytes), "read the guard zones"));
        size_t changed = 0, first = 0;
        for (size_t i = gap.bytes; i-- > 0;) {
            if (bytes[i] != guard_byte) {
                ++changed;
                first = i;
            }
        }
        if (changed > 0) {
            return guardFailure(gap.place, rank_, int64_t(changed), int64_t(first), gap.bytes);
        }
    }
    return std::nullopt;
}

Outcome Buffers::readOutput(RankLink& link, int set, size_t index, std::vector<char>& bytes) const
{
    bytes.resize(shape_->outputs[index].bytes(rank_));
    return check(link.read(bytes.data(), outputs_[size_t(set)][index], bytes.size()), "read the outputs");
}

}  // namespace cuco_harness
