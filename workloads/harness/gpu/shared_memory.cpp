// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/shared_memory.h"

#include <cuda.h>
#include <dlfcn.h>
#include <cstdint>
#include <utility>

namespace cuco_harness {
namespace {

/// The driver's functions by name, so that the harness links where no driver is.
struct Driver {
    decltype(&cuMemRetainAllocationHandle) retain = nullptr;
    decltype(&cuMemExportToShareableHandle) exportHandle = nullptr;
    decltype(&cuMemImportFromShareableHandle) importHandle = nullptr;
    decltype(&cuMemAddressReserve) reserve = nullptr;
    decltype(&cuMemAddressFree) freeAddress = nullptr;
    decltype(&cuMemMap) map = nullptr;
    decltype(&cuMemUnmap) unmap = nullptr;
    decltype(&cuMemSetAccess) setAccess = nullptr;
    decltype(&cuMemRelease) release = nullptr;
    CUresult (*addressRange)(CUdeviceptr*, size_t*, CUdeviceptr) = nullptr;
    decltype(&cuGetErrorName) errorName = nullptr;
    bool complete = false;
};

const Driver& driver()
{
    static const Driver found = [] {
        Driver d;
        void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        bool all = library != nullptr;
        const auto find = [&](auto& function, const char* name) {
            function = library ? reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name)) : nullptr;
            all = all && function;
        };
        find(d.retain, "cuMemRetainAllocationHandle");
        find(d.exportHandle, "cuMemExportToShareableHandle");
        find(d.importHandle, "cuMemImportFromShareableHandle");
        find(d.reserve, "cuMemAddressReserve");
        find(d.freeAddress, "cuMemAddressFree");
        find(d.map, "cuMemMap");
        find(d.unmap, "cuMemUnmap");
        find(d.setAccess, "cuMemSetAccess");
        find(d.release, "cuMemRelease");
        find(d.addressRange, "cuMemGetAddressRange_v2");
        find(d.errorName, "cuGetErrorName");
        d.complete = all;
        return d;
    }();
    return found;
}

Outcome check(CUresult result, const char* doing)
{
    if (result == CUDA_SUCCESS)
        return std::nullopt;
    const char* name = nullptr;
    driver().errorName(result, &name);
    Failure failure = environmentFailure(std::string("The harness could not ") + doing + ": " +
                                         (name ? name : "an unknown error") + ".");
    failure.detail =
        "Outputs are checked from a process of their own, which needs CUDA's virtual memory management with file "
        "descriptors.";
    return failure;
}

Outcome requireDriver()
{
    if (driver().complete)
        return std::nullopt;
    return environmentFailure(
        "The CUDA driver (libcuda.so.1) is missing or too old to share memory between "
        "processes.");
}

}  // namespace

MappedMemory::~MappedMemory()
{
    unmap();
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0))
{
}

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept
{
    unmap();
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
}

void MappedMemory::unmap()
{
    if (address_ == 0)
        return;
    driver().unmap(address_, bytes_);
    driver().freeAddress(address_, bytes_);
    address_ = 0;
}

Outcome MappedMemory::map(int descriptor, size_t bytes, int device)
{
    CUCO_CHECK(requireDriver());
    unmap();
    CUmemGenericAllocationHandle handle = 0;
    CUCO_CHECK(check(driver().importHandle(&handle, reinterpret_cast<void*>(intptr_t(descriptor)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                     "import a rank's memory"));
    CUdeviceptr address = 0;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    Outcome failed = check(driver().reserve(&address, bytes, 0, 0, 0), "reserve addresses for a rank's memory");
    if (!failed && (failed = check(driver().map(address, bytes, 0, handle, 0), "map a rank's memory")))
        driver().freeAddress(address, bytes);
    if (!failed) {
        address_ = address;
        bytes_ = bytes;
        failed = check(driver().setAccess(address, bytes, &access, 1), "get access to a rank's memory");
    }
    // The mapping keeps the memory alive.
    driver().release(handle);
    return failed;
}

Outcome exportMemory(void* memory, int& descriptor, size_t& bytes)
{
    CUCO_CHECK(requireDriver());
    CUdeviceptr base = 0;
    CUCO_CHECK(check(driver().addressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(memory)),
                     "ask for the size of its memory"));
    CUmemGenericAllocationHandle handle = 0;
    CUCO_CHECK(check(driver().retain(&handle, memory), "share its memory with the observer"));
    const Outcome failed =
        check(driver().exportHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
              "share its memory with the observer");
    driver().release(handle);
    return failed;
}

}  // namespace cuco_harness
