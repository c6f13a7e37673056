// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "rank_main.h"

#include "shape_run.h"

#include <cstring>

namespace cuco_harness {
namespace {

Outcome reportStart(const Job& job, RankLink& link, const cudaDeviceProp& device)
{
    std::string nccl;
    CUCO_CHECK(checkNcclVersion(nccl));
    if (link.rank() == 0) {
        link.report(ReportLine("start")
                        .add("ranks", job.ranks)
                        .add("emulated", true)
                        .add("device", device.name)
                        .add("sms", device.multiProcessorCount)
                        .add("l2_bytes", int64_t(device.l2CacheSize))
                        .add("nccl", nccl));
    }
    return std::nullopt;
}

Outcome joinCommunicator(const Job& job, RankLink& link, ncclComm_t& comm)
{
    ncclUniqueId id{};
    if (link.rank() == 0)
        CUCO_CHECK(check(ncclGetUniqueId(&id), "get NCCL's unique id"));
    const auto ids = link.gather(link.rank() == 0 ? std::string(id.internal, sizeof id.internal) : std::string());
    if (ids[0].size() != sizeof id.internal)
        return environmentFailure("Rank 0 sent no unique id of NCCL.");
    std::memcpy(id.internal, ids[0].data(), sizeof id.internal);
    return check(ncclCommInitRank(&comm, job.ranks, id, link.rank()), "make NCCL's communicator");
}

Outcome runShapes(const Job& job, RankLink& link, const cudaDeviceProp& device)
{
    std::string error;
    const auto candidate = link.load(job.pathOf(job.candidate), error);
    if (!candidate) {
        Failure failure;
        failure.kind = "setup_failed";
        failure.message = "The candidate cannot be loaded.";
        failure.detail = error;
        return failure;
    }
    ncclComm_t comm = nullptr;
    CUCO_CHECK(joinCommunicator(job, link, comm));
    for (const auto& shape : job.shapes) {
        if (auto failure = ShapeRun(job, shape, link, *candidate, comm, device).run()) {
            failure->shape = shape.name;
            return failure;
        }
    }
    return check(ncclCommDestroy(comm), "leave NCCL's communicator");
}

Outcome startRank(const Job& job, RankLink& link)
{
    link.progress("", "the start of CUDA and NCCL");
    CUCO_CHECK(check(cudaSetDevice(link.device()), "use its GPU"));
    cudaDeviceProp device{};
    CUCO_CHECK(check(cudaGetDeviceProperties(&device, link.device()), "ask the GPU for its properties"));
    CUCO_CHECK(reportStart(job, link, device));
    return runShapes(job, link, device);
}

}  // namespace

Outcome runRank(const Job& job, RankLink& link)
{
    auto failure = startRank(job, link);
    if (failure && failure->rank < 0)
        failure->rank = link.rank();
    return failure;
}

}  // namespace cuco_harness
