// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/rank_buffers.h"

#include "gpu/shared_memory.h"

#include <algorithm>

namespace cuco_harness {

RankBuffers::~RankBuffers()
{
    for (void* region : regions_)
        ncclMemFree(region);
}

Outcome RankBuffers::allocate(const ShapeJob& shape, int rank, int sets)
{
    layout_ = layOut(shape, rank, sets);
    for (const size_t bytes : {layout_.output_bytes, layout_.input_bytes, layout_.snapshot_bytes}) {
        void* region = nullptr;
        CUCO_CHECK(check(ncclMemAlloc(&region, std::max<size_t>(bytes, 1)), "allocate its buffers"));
        regions_.push_back(region);
    }
    for (const auto& set : layout_.outputs) {
        auto& pointers = outputs_.emplace_back();
        for (const size_t offset : set)
            pointers.push_back(outputRegion() + offset);
    }
    for (const auto& set : layout_.inputs) {
        auto& pointers = inputs_.emplace_back();
        for (const size_t offset : set)
            pointers.push_back(static_cast<char*>(regions_[1]) + offset);
    }
    return std::nullopt;
}

Outcome RankBuffers::share(Packer& sizes, std::vector<int>& descriptors) const
{
    for (void* region : regions_) {
        int descriptor = -1;
        size_t bytes = 0;
        CUCO_CHECK(exportMemory(region, descriptor, bytes));
        descriptors.push_back(descriptor);
        sizes.number(int64_t(bytes));
    }
    return std::nullopt;
}

}  // namespace cuco_harness
