// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "buffers.h"

#include "inputs.h"

namespace cuco_harness {
namespace {

constexpr size_t guard_bytes = 4096, alignment = 256;
constexpr int guard_byte = 0xa5;

size_t alignUp(size_t bytes)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

Buffers::~Buffers()
{
    for (char* allocation : allocations_)
        cudaFree(allocation);
    if (region_)
        ncclMemFree(region_);
}

size_t Buffers::bytesOfSet(const ShapeJob& shape, int rank)
{
    size_t bytes = 0;
    for (const auto& input : shape.inputs)
        bytes += alignUp(input.bytes(rank)) + 2 * guard_bytes;
    for (const auto& output : shape.outputs)
        bytes += alignUp(output.largestBytes()) + guard_bytes;
    return bytes;
}

Outcome Buffers::allocate(const ShapeJob& shape, int rank, int sets)
{
    shape_ = &shape;
    rank_ = rank;
    size_t output_bytes = guard_bytes;
    for (const auto& output : shape.outputs)
        output_bytes += (alignUp(output.largestBytes()) + guard_bytes) * size_t(sets);
    region_bytes_ = output_bytes;
    void* region = nullptr;
    CUCO_CHECK(check(ncclMemAlloc(&region, region_bytes_), "allocate the outputs"));
    region_ = static_cast<char*>(region);
    CUCO_CHECK(check(cudaMemset(region_, guard_byte, region_bytes_), "fill the guard zones"));

    char* next = region_;
    for (int set = 0; set < sets; ++set) {
        std::vector<void*> outputs;
        for (const auto& output : shape.outputs) {
            gaps_.push_back({next, guard_bytes, "before output " + output.name});
            char* begin = next + guard_bytes;
            outputs.push_back(begin);
            next = begin + alignUp(output.largestBytes());
            char* end = begin + output.bytes(rank);
            gaps_.push_back({end, size_t(next - end), "behind output " + output.name});
        }
        outputs_.push_back(std::move(outputs));

        std::vector<const void*> inputs;
        for (const auto& input : shape.inputs) {
            void* memory = nullptr;
            const size_t bytes = input.bytes(rank), whole = guard_bytes + alignUp(bytes) + guard_bytes;
            CUCO_CHECK(check(cudaMalloc(&memory, whole), "allocate the inputs"));
            auto* begin = static_cast<char*>(memory);
            allocations_.push_back(begin);
            CUCO_CHECK(check(cudaMemset(begin, guard_byte, whole), "fill the guard zones"));
            inputs.push_back(begin + guard_bytes);
            gaps_.push_back({begin, guard_bytes, "before input " + input.name});
            gaps_.push_back({begin + guard_bytes + bytes, whole - guard_bytes - bytes, "behind input " + input.name});
        }
        inputs_.push_back(std::move(inputs));
    }
    gaps_.push_back({next, size_t(region_ + region_bytes_ - next), "behind the last output"});
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
    for (const auto& gap : gaps_) {
        // Watching works in words; what precedes the first whole one is seen by checkGuards.
        const size_t skipped = (8 - reinterpret_cast<uintptr_t>(gap.begin) % 8) % 8;
        if (gap.bytes > skipped)
            link.protect(gap.begin + skipped, gap.bytes - skipped, false, "the guard zone " + gap.place);
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
    for (const auto& gap : gaps_) {
        bytes.resize(gap.bytes);
        CUCO_CHECK(check(link.read(bytes.data(), gap.begin, gap.bytes), "read the guard zones"));
        size_t changed = 0, first = 0;
        for (size_t i = gap.bytes; i-- > 0;) {
            if (bytes[i] != guard_byte) {
                ++changed;
                first = i;
            }
        }
        if (changed > 0) {
            Failure failure;
            failure.kind = "out_of_bounds";
            failure.rank = rank_;
            failure.message = "Something was written " + gap.place + " of rank " + std::to_string(rank_) + ": " +
                              std::to_string(changed) + " bytes of the guard zone have changed.";
            failure.detail =
                "The first is byte " + std::to_string(first) + " of the zone's " + std::to_string(gap.bytes) + ".";
            return failure;
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
