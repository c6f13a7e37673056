// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"
#include "report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cuco_harness {

/// The three functions of candidate.h, loaded.
struct CandidateFunctions {
    int (*setup)(const cuco_context*, void**) = nullptr;
    int (*run)(void*, const cuco_io*, cudaStream_t) = nullptr;
    void (*teardown)(void*) = nullptr;
};

/// What a rank sees of the other ranks and of what started them.
class RankLink {
public:
    virtual ~RankLink() = default;

    virtual int rank() const = 0;
    virtual int device() const = 0;
    virtual std::optional<CandidateFunctions> load(const std::string& path, std::string& error) = 0;

    /// Collective, and a barrier: everyone's bytes by rank.
    virtual std::vector<std::string> gather(const std::string& mine) = 0;
    /// Collective: a moment that is the same for all ranks, in ns of nowNs(); returns when it has come.
    virtual int64_t commonStart() = 0;
    virtual int64_t nowNs() const = 0;
    /// Delays this rank's host.
    virtual void delay(int64_t ns) = 0;

    // Where the device is emulated; nothing elsewhere.
    /// Collective. Until disturb(0): the devices' work is late at random, from this seed.
    virtual void disturb(uint64_t /*seed*/) {}
    /// Around every call of the candidate, whose system calls and stores are then looked at: it must not store above
    /// `frame` on the stack, other than to `result`.
    virtual void enterCandidate(const void* /*frame*/, const void* /*result*/) {}
    virtual void leaveCandidate() {}
    /// Notes what runs beside `stream` when the work that is now on it ends; workAfterEnd says it when the device is
    /// idle.
    virtual void noteEnd(cudaStream_t /*stream*/) {}
    virtual std::string workAfterEnd() { return {}; }

    /// What the rank does from now on, for the message when it never ends: "iteration 3 of shape 4096".
    virtual void progress(const std::string& shape, const std::string& doing) = 0;
    virtual void report(const ReportLine& line) = 0;

    /// Where accesses are watched: what to call this memory in messages.
    virtual void name(const void*, size_t, const std::string&) {}
    /// Where accesses are watched: what lies here must not be touched, or with `readable` only read.
    virtual void protect(const void* begin, size_t bytes, bool readable, const std::string& name) = 0;
    /// Reads device memory of this rank, whose device is idle; also what is protected. Not part of a trace.
    virtual cudaError_t read(void* to, const void* from, size_t bytes) = 0;
    /// Collective. FLOPs and bytes of the represented shape over those of the shape that runs.
    virtual void scale(double flop_factor, double byte_factor) = 0;
    /// Collective. A traced stretch ends with the timeline's JSON; empty where there is none.
    virtual void beginTrace(const std::string& title) = 0;
    virtual std::string endTrace() = 0;
};

}  // namespace cuco_harness
