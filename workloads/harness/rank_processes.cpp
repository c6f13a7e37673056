// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CUCO_EMULATED
#include "platform.h"
#include "process_link.h"
#include "rank_main.h"
#include "wire.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace cuco_harness {
namespace {

// From the supervisor's decision to the common start: time enough for every rank to wake up.
constexpr int64_t start_lead_ns = 300'000;

constexpr int64_t patience_ns = 10'000'000'000;

volatile sig_atomic_t stop_requested = 0;

void requestStop(int)
{
    stop_requested = 1;
}

[[noreturn]] void rankProcess(const Job& job, int socket, int rank, pid_t group)
{
    setpgid(0, group);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    const int null = open("/dev/null", O_RDONLY);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    ProcessLink link(socket, rank);
    link.finish(runRank(job, link));
    std::fflush(nullptr);
    // Without exit handlers: a candidate's must not run after the rank's end was reported.
    _exit(0);
}

/// The parent of the ranks. It never calls CUDA, so that a rank's crash cannot reach it.
class Supervisor {
public:
    Supervisor(const Job& job, int report_descriptor) : job_(job), report_descriptor_(report_descriptor) {}

    int run()
    {
        if (!startRanks())
            fail(environmentFailure("A rank's process could not be started."));
        else
            serve();
        endRanks();
        return writeReport(report_descriptor_, ReportLine("done").text()) ? 0 : 1;
    }

private:
    struct Rank {
        pid_t process = -1;
        int socket = -1;
        std::string received, shape, doing = "its start", gathered;
        bool gathering = false, starting = false, done = false;
    };

    bool startRanks()
    {
        ranks_.resize(size_t(job_.ranks));
        for (int r = 0; r < job_.ranks; ++r) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
                return false;
            const pid_t process = fork();
            if (process == 0) {
                for (const auto& rank : ranks_) {
                    if (rank.socket >= 0)
                        close(rank.socket);
                }
                close(pair[0]);
                if (report_descriptor_ > STDERR_FILENO)
                    close(report_descriptor_);
                rankProcess(job_, pair[1], r, group_);
            }
            close(pair[1]);
            if (process < 0) {
                close(pair[0]);
                return false;
            }
            // Both sides set the group, so that it holds whichever comes first.
            setpgid(process, group_);
            if (group_ == 0)
                group_ = process;
            ranks_[size_t(r)].process = process;
            ranks_[size_t(r)].socket = pair[0];
        }
        return true;
    }

    void serve()
    {
        const int64_t deadline = monotonicNs() + int64_t(job_.limit_s) * 1'000'000'000;
        while (!failed_ && !std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.done; })) {
            std::vector<pollfd> sockets;
            std::vector<size_t> owners;
            for (size_t r = 0; r < ranks_.size(); ++r) {
                if (!ranks_[r].done) {
                    sockets.push_back({ranks_[r].socket, POLLIN, 0});
                    owners.push_back(r);
                }
            }
            const int64_t left_ms = (deadline - monotonicNs()) / 1'000'000;
            if (stop_requested) {
                fail(environmentFailure("The run was cancelled."));
                return;
            }
            if (left_ms <= 0) {
                failByTime();
                return;
            }
            // A signal that arrives just before poll does not interrupt it; the short wait bounds the delay.
            if (poll(sockets.data(), nfds_t(sockets.size()), int(std::min<int64_t>(left_ms, 200))) < 0 &&
                errno != EINTR) {
                fail(environmentFailure(std::string("Waiting for the ranks failed: ") + std::strerror(errno) + "."));
                return;
            }
            for (size_t i = 0; i < sockets.size() && !failed_; ++i) {
                if (sockets[i].revents != 0)
                    receive(owners[i]);
            }
        }
    }

    void receive(size_t index)
    {
        Rank& rank = ranks_[index];
        char buffer[65536];
        const ssize_t count = recv(rank.socket, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR)
            return;
        if (count <= 0) {
            failByEnd(index);
            return;
        }
        rank.received.append(buffer, size_t(count));
        Message message;
        bool broken = false;
        while (!failed_ && !rank.done && takeMessage(rank.received, message, broken))
            take(index, message);
        if (broken)
            fail(crash(index, "sent a message that the harness does not know"));
    }

    void take(size_t index, const Message& message)
    {
        Rank& rank = ranks_[index];
        switch (message.kind) {
            case message_kind::gather:
                rank.gathering = true;
                rank.gathered = message.bytes;
                answerGather();
                break;
            case message_kind::start:
                rank.starting = true;
                answerStart();
                break;
            case message_kind::progress:
                takeProgress(rank, message.bytes);
                break;
            case message_kind::report:
                writeReport(report_descriptor_, message.bytes);
                break;
            case message_kind::failure:
                writeReport(report_descriptor_, message.bytes);
                failed_ = true;
                break;
            case message_kind::done:
                rank.done = true;
                break;
            default:
                fail(crash(index, "sent a message that the harness does not know"));
        }
    }

    static void takeProgress(Rank& rank, std::string bytes)
    {
        Message shape, doing;
        bool broken = false;
        if (takeMessage(bytes, shape, broken) && takeMessage(bytes, doing, broken)) {
            rank.shape = shape.bytes;
            rank.doing = doing.bytes;
        }
    }

    void answerGather()
    {
        std::string all;
        for (const auto& rank : ranks_) {
            if (!rank.gathering)
                return;
            all += packed(message_kind::gather, rank.gathered);
        }
        for (auto& rank : ranks_)
            rank.gathering = false;
        tellAll(packed(message_kind::gather, all));
    }

    void answerStart()
    {
        for (const auto& rank : ranks_) {
            if (!rank.starting)
                return;
        }
        for (auto& rank : ranks_)
            rank.starting = false;
        const int64_t start = monotonicNs() + start_lead_ns;
        std::string bytes(sizeof start, '\0');
        std::memcpy(bytes.data(), &start, sizeof start);
        tellAll(packed(message_kind::start, bytes));
    }

    // A rank that is gone is noticed by its closed socket.
    void tellAll(const std::string& message)
    {
        for (const auto& rank : ranks_)
            sendAll(rank.socket, message);
    }

    Failure crash(size_t index, const std::string& what) const
    {
        Failure failure;
        failure.kind = "crash";
        failure.rank = int(index);
        failure.shape = ranks_[index].shape;
        failure.message = "Rank " + std::to_string(index) + " " + what + " during " + ranks_[index].doing + ".";
        return failure;
    }

    void failByEnd(size_t index)
    {
        int status = 0;
        // The socket closes as the process dies; its status follows at once.
        if (waitpid(ranks_[index].process, &status, 0) != ranks_[index].process)
            status = 0;
        else
            ranks_[index].process = -1;
        if (WIFSIGNALED(status))
            fail(crash(index, "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                  strsignal(WTERMSIG(status)) + ")"));
        else
            fail(crash(index, "ended by itself with status " + std::to_string(WEXITSTATUS(status))));
    }

    void failByTime()
    {
        Failure failure;
        failure.kind = "timeout";
        for (size_t r = 0; r < ranks_.size(); ++r) {
            const Rank& rank = ranks_[r];
            if (rank.done || rank.gathering || rank.starting)
                continue;
            if (failure.rank < 0) {
                failure.rank = int(r);
                failure.shape = rank.shape;
            }
            failure.message += (failure.message.empty() ? "" : "; ") + std::string("rank ") + std::to_string(r) +
                               " had not finished " + rank.doing;
        }
        failure.message = "The run was stopped after " + std::to_string(job_.limit_s) + " s: " + failure.message + ".";
        fail(failure);
    }

    void fail(const Failure& failure)
    {
        writeReport(report_descriptor_, failure.toLine().text());
        failed_ = true;
    }

    // Ranks that are done leave by themselves, soon. The group takes along whatever a candidate started.
    void endRanks()
    {
        const int64_t deadline = monotonicNs() + patience_ns;
        while (!failed_ && monotonicNs() < deadline && !reap(WNOHANG))
            usleep(1000);
        if (group_ > 0)
            kill(-group_, SIGKILL);
        reap(0);
        for (const auto& rank : ranks_) {
            if (rank.socket >= 0)
                close(rank.socket);
        }
    }

    bool reap(int options)
    {
        bool all = true;
        for (auto& rank : ranks_) {
            if (rank.process > 0 && waitpid(rank.process, nullptr, options) == rank.process)
                rank.process = -1;
            all = all && rank.process <= 0;
        }
        return all;
    }

    const Job& job_;
    const int report_descriptor_;
    std::vector<Rank> ranks_;
    pid_t group_ = 0;
    bool failed_ = false;
};

}  // namespace

int runRanks(const Job& job, int report_descriptor)
{
    struct sigaction action {};
    action.sa_handler = requestStop;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    return Supervisor(job, report_descriptor).run();
}

Outcome runOnOneDevice(const Job&, int, const std::function<Outcome()>& body)
{
    CUCO_CHECK(check(cudaSetDevice(0), "use the first GPU"));
    return body();
}

ReferenceFunction loadReference(const std::string& path, std::string& error)
{
    void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto* function = object ? reinterpret_cast<ReferenceFunction>(dlsym(object, "cuco_reference")) : nullptr;
    if (!object)
        error = dlerror();
    else if (!function)
        error = "it does not define cuco_reference";
    return function;
}

}  // namespace cuco_harness
#endif
