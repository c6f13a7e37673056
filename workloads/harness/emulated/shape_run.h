// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "buffers.h"
#include "device_outcome.h"
#include "job.h"
#include "rank_link.h"

namespace cuco_harness {

/// One shape of a job on one rank: set up, iterations that are both timed and dumped, tear down.
class ShapeRun {
public:
    ShapeRun(const Job& job, const ShapeJob& shape, RankLink& link, const CandidateFunctions& candidate,
             ncclComm_t comm, const cudaDeviceProp& device);
    ~ShapeRun();
    ShapeRun(const ShapeRun&) = delete;
    ShapeRun& operator=(const ShapeRun&) = delete;

    Outcome run();

private:
    Outcome setUp();
    Outcome iterations();
    Outcome checkedIteration(int iteration);
    Outcome tearDown();
    Outcome runCandidate(int set);
    Outcome synchronise(const std::string& doing);
    Outcome dump(int iteration, int set);
    Outcome fillSet(int set, uint64_t seed);
    Outcome workAfterEnd(int iteration);
    void delayBySkew(int iteration);
    std::string where(int iteration) const;
    /// The slowest rank's number.
    double slowest(double mine);

    const Job& job_;
    const ShapeJob& shape_;
    RankLink& link_;
    const CandidateFunctions& candidate_;
    cuco_context context_{};
    void* state_ = nullptr;
    cudaStream_t stream_ = nullptr;
    Buffers buffers_;
    std::vector<double> modelled_us_;
};

}  // namespace cuco_harness
