// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"
#include "device_outcome.h"
#include "job.h"
#include "layout.h"
#include "wire.h"

#include <vector>

namespace cuco_harness {

/// A rank's memory for one shape, all of it shared with the observer.
class RankBuffers {
public:
    RankBuffers() = default;
    ~RankBuffers();
    RankBuffers(const RankBuffers&) = delete;
    RankBuffers& operator=(const RankBuffers&) = delete;

    Outcome allocate(const ShapeJob& shape, int rank, int sets);
    /// Of each region its size and a descriptor, which becomes the caller's.
    Outcome share(Packer& sizes, std::vector<int>& descriptors) const;

    char* outputRegion() const { return static_cast<char*>(regions_[0]); }
    char* snapshotOf(size_t output) const { return static_cast<char*>(regions_[2]) + layout_.snapshot[output]; }
    size_t outputBytes() const { return layout_.output_bytes; }
    size_t sets() const { return outputs_.size(); }
    cuco_io io(size_t set) const { return {inputs_[set].data(), outputs_[set].data()}; }

private:
    BufferLayout layout_;
    std::vector<void*> regions_;
    std::vector<std::vector<const void*>> inputs_;
    std::vector<std::vector<void*>> outputs_;
};

}  // namespace cuco_harness
