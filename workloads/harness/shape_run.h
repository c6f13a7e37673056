// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "buffers.h"
#include "job.h"
#include "outcome.h"
#include "rank_link.h"

namespace cuco_harness {

/// One shape of a job on one rank: set up, checked iterations, timed iterations, tear down.
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
    Outcome agreeOnSets(int& sets);
    Outcome checkedIterations();
    Outcome checkedIteration(int iteration);
    Outcome timedIterations();
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

    struct Stretch {
        double host_us = 0, event_us = 0;
    };
    /// `length` iterations in a row from the common start until the device is idle; makespans of the slowest rank.
    Outcome stretch(int length, Stretch& result);

    const Job& job_;
    const ShapeJob& shape_;
    RankLink& link_;
    const CandidateFunctions& candidate_;
    cuco_context context_{};
    void* state_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    Buffers buffers_;
    int next_set_ = 0;
    std::vector<double> modelled_us_;
};

}  // namespace cuco_harness
