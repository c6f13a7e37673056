// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifndef CUCO_EMULATED

#include <memory>
#include <string>
#include <vector>

struct ncclComm;

namespace cuco_harness {

/// What one rank's GPU did between begin() and end(): CUPTI's records, when the library of profile/ is injected into
/// this process, and the phases that the candidate recorded in its kernels with device_trace.cuh. Nothing here fails:
/// what is missing is said in the timeline's notes. Call it with the rank's device current.
class RankTrace {
public:
    RankTrace();
    ~RankTrace();
    RankTrace(const RankTrace&) = delete;
    RankTrace& operator=(const RankTrace&) = delete;

    /// What dlopen gave for the candidate, in which to look for phases inside kernels. Null: there is none.
    void useCandidate(void* object);

    /// Collective over `comm`, optional, outside a window: one kernel on every rank leaves device barriers at the same
    /// moments, so that the error between the ranks' time axes can be told. Without it the error is not known.
    void measureAxis(ncclComm* comm);

    /// The device is idle and stays idle until this returns. Costs up to a second the first time, in which CUPTI
    /// starts: call it before the common start.
    void begin();

    /// What began earlier is left out: the common start is now.
    void markStart();

    /// The device is idle. The rank's lanes, times in CLOCK_REALTIME ns, as text for mergeRankTraces().
    std::string end(int rank);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// What tracing costs: the same iteration's time without and with it, in µs. Zeros: not measured.
struct TracingCost {
    double untraced_us = 0, traced_us = 0;
};

/// What the ranks' times have in common: CLOCK_REALTIME, or, on several hosts, the start of the traced stretch.
struct TraceAxis {
    bool several_hosts = false;
    double start_uncertainty_us = 0;  ///< by which the hosts' starts differ
};

/// One timeline (the JSON of README.md) of what end() gave on every rank, on one axis that starts at 0 with the first
/// record. Text of another origin is left out, and a note says so.
std::string mergeRankTraces(const std::vector<std::string>& ranks, const std::string& title,
                            const TracingCost& cost = {}, const TraceAxis& axis = {});

}  // namespace cuco_harness
#endif
