// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"
#include "device_outcome.h"
#include "job.h"
#include "layout.h"
#include "rank_link.h"

#include <string>
#include <vector>

namespace cuco_harness {

/// A rank's buffers for one shape: several sets of inputs and outputs that iterations take in turn, so that
/// addresses move. All outputs lie in one region of ncclMemAlloc with the same layout on all ranks; what lies
/// between them, and around each input, is filled with a pattern that a candidate must leave alone.
class Buffers {
public:
    Buffers() = default;
    ~Buffers();
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    Outcome allocate(const ShapeJob& shape, int rank, int sets);
    Outcome fillInputs(int set, uint64_t seed, cudaStream_t stream);
    Outcome poisonOutputs(int set, cudaStream_t stream);
    /// Guards may not be touched, inputs only read, where accesses are watched.
    void protect(RankLink& link) const;
    /// A failure of the candidate when the pattern between the buffers has changed.
    Outcome checkGuards(RankLink& link) const;
    Outcome readOutput(RankLink& link, int set, size_t index, std::vector<char>& bytes) const;

    int sets() const { return int(inputs_.size()); }
    cuco_io io(int set) const { return {inputs_[size_t(set)].data(), outputs_[size_t(set)].data()}; }
    void* symmetricBase() const { return region_; }
    size_t symmetricBytes() const { return layout_.output_bytes; }

private:
    char* beginOf(const BufferLayout::Gap& gap) const { return (gap.in_outputs ? region_ : input_region_) + gap.begin; }

    const ShapeJob* shape_ = nullptr;
    int rank_ = 0;
    char* region_ = nullptr;
    char* input_region_ = nullptr;
    BufferLayout layout_;
    std::vector<std::vector<const void*>> inputs_;
    std::vector<std::vector<void*>> outputs_;
};

}  // namespace cuco_harness
