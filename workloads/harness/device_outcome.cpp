// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "device_outcome.h"

#include "candidate.h"

namespace cuco_harness {

namespace {

std::string versionText(int version)
{
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

}  // namespace

Outcome checkNcclVersion(std::string& version)
{
    int loaded = 0;
    CUCO_CHECK(check(ncclGetVersion(&loaded), "ask NCCL for its version"));
    version = versionText(loaded);
    if (loaded == NCCL_VERSION_CODE)
        return std::nullopt;
    return environmentFailure("The harness was built with the header of NCCL " + versionText(NCCL_VERSION_CODE) +
                              " but loaded the library " + version +
                              ". Build it against the header of the library that is loaded.");
}

Outcome check(cudaError_t error, const char* doing)
{
    if (error == cudaSuccess)
        return std::nullopt;
    Failure failure =
        environmentFailure(std::string("The harness could not ") + doing + ": " + cudaGetErrorString(error) + ".");
    failure.detail = cudaGetErrorName(error);
    return failure;
}

Outcome check(ncclResult_t result, const char* doing)
{
    if (result == ncclSuccess)
        return std::nullopt;
    Failure failure = environmentFailure(std::string("The harness could not ") + doing + ": NCCL says " +
                                         ncclGetErrorString(result) + ".");
    failure.detail = ncclGetLastError(nullptr);
    return failure;
}

Failure candidateFailure(int code, const std::string& doing)
{
    Failure failure;
    failure.kind = "setup_failed";
    failure.line = code > 0 ? code >> 16 : 0;
    const int what = code > 0 ? code & 0xffff : code;
    if (what >= CUCO_LIBRARY_ERROR_BASE)
        failure.message =
            doing + " failed: a library call returned status " + std::to_string(what - CUCO_LIBRARY_ERROR_BASE) + ".";
    else if (what >= CUCO_NCCL_ERROR_BASE) {
        const auto result = static_cast<ncclResult_t>(what - CUCO_NCCL_ERROR_BASE);
        failure.message = doing + " failed: NCCL says " + ncclGetErrorString(result) + ".";
        failure.detail = ncclGetLastError(nullptr);
    } else if (what > 0) {
        const auto error = static_cast<cudaError_t>(what);
        failure.message = doing + " failed: CUDA says " + cudaGetErrorString(error) + ".";
        failure.detail = cudaGetErrorName(error);
    } else
        failure.message = doing + " returned " + std::to_string(what) + ".";
    return failure;
}

Failure deviceFailure(cudaError_t error, const std::string& doing)
{
    Failure failure;
    failure.kind = error == cudaErrorIllegalAddress ? "out_of_bounds" : "crash";
    failure.message = doing + " left the device with an error: " + cudaGetErrorString(error) + ".";
    failure.detail = cudaGetErrorName(error);
    return failure;
}

}  // namespace cuco_harness
