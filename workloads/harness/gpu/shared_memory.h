// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_outcome.h"

#include <cstddef>

namespace cuco_harness {

/// Device memory that another process made with cuMemCreate (as ncclMemAlloc does), mapped here. CUDA driver API,
/// "Virtual Memory Management".
class MappedMemory {
public:
    MappedMemory() = default;
    ~MappedMemory();
    MappedMemory(MappedMemory&& other) noexcept;
    MappedMemory& operator=(MappedMemory&& other) noexcept;

    /// `bytes` is what exportMemory said. The descriptor stays the caller's. The device must be current.
    Outcome map(int descriptor, size_t bytes, int device);
    char* data() const { return reinterpret_cast<char*>(address_); }
    size_t bytes() const { return bytes_; }

private:
    void unmap();

    unsigned long long address_ = 0;
    size_t bytes_ = 0;
};

/// A descriptor through which another process can map the allocation, and the allocation's size.
Outcome exportMemory(void* memory, int& descriptor, size_t& bytes);

}  // namespace cuco_harness
