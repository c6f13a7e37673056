// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_outcome.h"

#include <algorithm>
#include <utility>

namespace cuco_harness {

/// Device memory that is freed with its owner.
class DeviceMemory {
public:
    DeviceMemory() = default;
    ~DeviceMemory() { cudaFree(data_); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    DeviceMemory(DeviceMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}

    Outcome allocate(size_t bytes)
    {
        return check(cudaMalloc(&data_, std::max<size_t>(bytes, 1)), "allocate the oracle's memory");
    }
    void* data() const { return data_; }

private:
    void* data_ = nullptr;
};

}  // namespace cuco_harness
