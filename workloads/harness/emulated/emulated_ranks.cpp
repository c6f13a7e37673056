// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "cuco_emu_host.h"
#include "platform.h"
#include "rank_main.h"
#include "reference.h"

#include <unistd.h>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace cuco_harness {
namespace {

/// What the ranks share: they are fibers of one thread and take turns.
struct Shared {
    explicit Shared(int descriptor, size_t ranks = 0)
        : report_descriptor(descriptor), gathered(ranks), shapes(ranks), doing(ranks)
    {
    }

    const int report_descriptor;
    std::vector<std::string> gathered;
    std::string timeline;
    std::mutex mutex;  ///< of what follows, which the watchdog's thread reads
    std::vector<std::string> shapes, doing;
};

class EmulatedLink : public RankLink {
public:
    EmulatedLink(Shared& shared, int rank) : shared_(shared), rank_(rank) {}

    int rank() const override { return rank_; }
    int device() const override { return rank_; }

    std::optional<CandidateFunctions> load(const std::string& path, std::string& error) override
    {
        void* object = cuco_emu::load_candidate(path, rank_, &error);
        if (!object)
            return std::nullopt;
        CandidateFunctions functions;
        functions.setup = reinterpret_cast<decltype(functions.setup)>(cuco_emu::symbol(object, "cuco_setup"));
        functions.run = reinterpret_cast<decltype(functions.run)>(cuco_emu::symbol(object, "cuco_run"));
        functions.teardown = reinterpret_cast<decltype(functions.teardown)>(cuco_emu::symbol(object, "cuco_teardown"));
        if (!functions.setup || !functions.run || !functions.teardown) {
            error = "it does not define cuco_setup, cuco_run and cuco_teardown";
            return std::nullopt;
        }
        return functions;
    }

    std::vector<std::string> gather(const std::string& mine) override
    {
        shared_.gathered[size_t(rank_)] = mine;
        cuco_emu::barrier();
        auto all = shared_.gathered;
        cuco_emu::barrier();
        return all;
    }

    int64_t commonStart() override
    {
        cuco_emu::barrier();
        return cuco_emu::now_ns();
    }

    int64_t nowNs() const override { return cuco_emu::now_ns(); }
    void delay(int64_t ns) override { cuco_emu::sleep_ns(ns); }

    void disturb(uint64_t seed) override
    {
        cuco_emu::barrier();
        if (rank_ == 0)
            cuco_emu::disturb(seed);
        cuco_emu::barrier();
    }

    void enterCandidate(const void* frame, const void* result) override { cuco_emu::enter_candidate(frame, result); }
    void leaveCandidate() override { cuco_emu::leave_candidate(); }
    void noteEnd(cudaStream_t stream) override { cuco_emu::note_end(stream); }
    std::string workAfterEnd() override { return cuco_emu::work_after_end(); }

    void name(const void* begin, size_t bytes, const std::string& name) override
    {
        cuco_emu::set_access(begin, bytes, cuco_emu::Access::read_write, name);
    }

    void protect(const void* begin, size_t bytes, bool readable, const std::string& name) override
    {
        cuco_emu::set_access(begin, bytes, readable ? cuco_emu::Access::read_only : cuco_emu::Access::none, name);
    }

    // Device addresses are valid in the harness's own code, where nothing is watched.
    cudaError_t read(void* to, const void* from, size_t bytes) override
    {
        cuco_emu::read_by_harness(from, bytes);
        std::memcpy(to, from, bytes);
        return cudaSuccess;
    }

    void progress(const std::string& shape, const std::string& doing) override
    {
        const std::lock_guard lock(shared_.mutex);
        shared_.shapes[size_t(rank_)] = shape;
        shared_.doing[size_t(rank_)] = doing;
    }

    void report(const ReportLine& line) override { writeReport(shared_.report_descriptor, line.text()); }

    void scale(double flop_factor, double byte_factor) override
    {
        cuco_emu::barrier();
        if (rank_ == 0)
            cuco_emu::set_scale(flop_factor, byte_factor);
        cuco_emu::barrier();
    }

    void beginTrace(const std::string& title) override
    {
        cuco_emu::barrier();
        if (rank_ == 0)
            cuco_emu::trace_begin(title);
        cuco_emu::barrier();
    }

    std::string endTrace() override
    {
        cuco_emu::barrier();
        if (rank_ == 0)
            shared_.timeline = cuco_emu::trace_end();
        cuco_emu::barrier();
        return shared_.timeline;
    }

private:
    Shared& shared_;
    const int rank_;
};

/// Writes the failure and the report's end, then ends the process: the other ranks' fibers cannot go on.
[[noreturn]] void endWith(int report_descriptor, const Failure& failure)
{
    writeReport(report_descriptor, failure.toLine().text());
    writeReport(report_descriptor, ReportLine("done").text());
    _exit(0);
}

/// Ends the process when real time runs out: host code that never returns gives no other fiber a turn.
class Watchdog {
public:
    Watchdog(Shared& shared, int limit_s) : thread_([this, &shared, limit_s] { watch(shared, limit_s); }) {}
    ~Watchdog()
    {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

private:
    void watch(Shared& shared, int limit_s)
    {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::seconds(limit_s), [this] { return ended_; }))
            return;
        Failure failure;
        failure.kind = "timeout";
        failure.message = "The run was stopped after " + std::to_string(limit_s) + " s.";
        const std::lock_guard progress_lock(shared.mutex);
        for (size_t rank = 0; rank < shared.doing.size(); ++rank) {
            failure.shape = shared.shapes[rank];
            failure.detail +=
                (rank > 0 ? "\n" : "") + ("Rank " + std::to_string(rank) + " was in ") + shared.doing[rank] + ".";
        }
        endWith(shared.report_descriptor, failure);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false;
    std::thread thread_;
};

void reportEmulatorsFailures(const Shared& shared)
{
    cuco_emu::on_failure([&shared](const cuco_emu::Failure& fault) {
        Failure failure;
        failure.kind = fault.kind;
        failure.rank = fault.rank;
        failure.message = fault.message;
        failure.detail = fault.detail;
        failure.line = fault.line;
        const size_t rank = fault.rank < 0 ? 0 : size_t(fault.rank);
        if (rank < shared.doing.size() && !shared.doing[rank].empty()) {
            failure.shape = shared.shapes[rank];
            failure.detail += (failure.detail.empty() ? "" : "\n") + ("During " + shared.doing[rank] + ".");
        }
        endWith(shared.report_descriptor, failure);
    });
}

std::string sideJson(const cuco_emu::RaceSide& side)
{
    ReportLine line;
    const auto triple = [](const int(&v)[3]) {
        return "[" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + "]";
    };
    line.add("rank", side.rank).add("access", side.access).add("where", side.where).add("line", side.line);
    if (side.in_kernel)
        line.addJson("block", triple(side.block)).addJson("thread", triple(side.thread));
    return line.text();
}

/// The shape is rank 0's: ranks are never in different ones.
void reportRaces(const Shared& shared)
{
    cuco_emu::check_races([&shared](const cuco_emu::Race& race) {
        ReportLine line("race");
        line.add("shape", shared.shapes.empty() ? std::string() : shared.shapes[0]).add("memory", race.memory);
        if (race.memory_rank >= 0)
            line.add("memory_rank", race.memory_rank);
        line.add("byte", race.byte).addJson("first", sideJson(race.first)).addJson("second", sideJson(race.second));
        writeReport(shared.report_descriptor, line.text());
    });
}

Outcome startEmulator(const Job& job, int ranks)
{
    std::string error;
    if (!job.model.empty() && !cuco_emu::load_model(job.pathOf(job.model), &error))
        return environmentFailure(error);
    if (!cuco_emu::configure(ranks, &error))
        return environmentFailure(error);
    return std::nullopt;
}

}  // namespace

/// All shapes in one process: a candidate that behaves only as long as it is new must not be new for each.
int runRanks(const Job& job, int report_descriptor)
{
    Shared shared(report_descriptor, size_t(job.ranks));
    reportEmulatorsFailures(shared);
    if (auto failure = startEmulator(job, job.ranks))
        endWith(report_descriptor, *failure);
    if (job.race)
        reportRaces(shared);
    const Watchdog watchdog(shared, job.limit_s);
    cuco_emu::run([&](int rank) {
        EmulatedLink link(shared, rank);
        if (auto failure = runRank(job, link))
            endWith(report_descriptor, *failure);
    });
    if (const auto collectives = cuco_emu::host_collectives(); !collectives.empty())
        writeReport(report_descriptor, ReportLine("used").add("host_collectives", collectives).text());
    // Nothing of the candidate, no destructor and no function for atexit, may run after the report.
    _exit(writeReport(report_descriptor, ReportLine("done").text()) ? 0 : 1);
}

Outcome runOnOneDevice(const Job& job, int report_descriptor, const std::function<Outcome()>& body)
{
    Shared shared(report_descriptor);
    reportEmulatorsFailures(shared);
    CUCO_CHECK(startEmulator(job, 1));
    cuco_emu::forget_time();
    Outcome outcome;
    cuco_emu::run([&](int) { outcome = body(); });
    return outcome;
}

ReferenceFunction loadReference(const std::string& path, std::string& error)
{
    void* object = cuco_emu::load_candidate(path, 0, &error);
    if (!object)
        return nullptr;
    auto* function = reinterpret_cast<ReferenceFunction>(cuco_emu::symbol(object, "cuco_reference"));
    if (!function)
        error = "it does not define cuco_reference";
    return function;
}

}  // namespace cuco_harness
