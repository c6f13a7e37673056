// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/team.h"

#include "gpu/failure_wire.h"
#include "gpu/rank_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cuco_harness {
namespace {

// From the last rank's readiness to the common start.
constexpr int64_t start_lead_ns = 20'000;
// How long a rank's end may take to become known after its socket closed.
constexpr int launcher_patience_ms = 500;
constexpr int spins_between_looks = 4096;
constexpr size_t shown_bytes = 4096;

int sharedPage(TimingPage*& page)
{
    const int descriptor = memfd_create("cuco-timing", MFD_CLOEXEC);
    if (descriptor < 0)
        return -1;
    void* memory = MAP_FAILED;
    if (ftruncate(descriptor, sizeof(TimingPage)) == 0)
        memory = mmap(nullptr, sizeof(TimingPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        close(descriptor);
        return -1;
    }
    page = new (memory) TimingPage{};
    return descriptor;
}

std::string ownProgram()
{
    std::string path(4096, '\0');
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? size_t(length) : 0);
    return path;
}

[[noreturn]] void becomeLauncher(const std::vector<std::string>& prefix, const Program& program,
                                 const std::vector<int>& descriptors)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    std::vector<std::string> arguments = prefix;
    arguments.push_back(ownProgram());
    arguments.push_back("ranks");
    for (const int descriptor : descriptors) {
        fcntl(descriptor, F_SETFD, 0);
        arguments.push_back(std::to_string(descriptor));
    }
    // The report is the supervisor's alone.
    unsetenv("CUCO_REPORT_FD");
    for (const auto& [name, value] : program.variables)
        setenv(name.c_str(), value.c_str(), 1);
    const int highest = int(sysconf(_SC_OPEN_MAX));
    for (int descriptor = STDERR_FILENO + 1; descriptor < std::min(highest, 1024); ++descriptor) {
        if (std::find(descriptors.begin(), descriptors.end(), descriptor) == descriptors.end())
            close(descriptor);
    }
    std::vector<char*> argv;
    for (auto& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
}

std::string shortened(std::string text)
{
    if (text.size() > shown_bytes)
        text.resize(shown_bytes);
    return text;
}

}  // namespace

Team::Team(const Program& program, int ranks, int64_t patience_ns)
    : program_(program), patience_ns_(patience_ns), waiting_(size_t(ranks), 0), replies_(size_t(ranks))
{
}

Team::~Team()
{
    end();
    if (page_)
        munmap(page_, sizeof *page_);
}

Outcome Team::start(const std::vector<std::string>& prefix)
{
    const Failure failure = environmentFailure("The processes of the ranks could not be started.");
    std::vector<Channel> theirs(waiting_.size() + 1);
    channels_.resize(waiting_.size());
    const int page = sharedPage(page_);
    bool made = page >= 0 && Channel::makePair(launcher_, theirs.back());
    for (size_t i = 0; made && i < channels_.size(); ++i)
        made = Channel::makePair(channels_[i], theirs[i]);
    std::vector<int> descriptors{page, theirs.back().socket()};
    for (size_t i = 0; i < channels_.size(); ++i)
        descriptors.push_back(theirs[i].socket());
    process_ = made ? fork() : -1;
    if (process_ == 0)
        becomeLauncher(prefix, program_, descriptors);
    if (page >= 0)
        close(page);
    if (process_ < 0)
        return failure;
    setpgid(process_, process_);
    return std::nullopt;
}

void Team::end()
{
    if (process_ > 0) {
        kill(-process_, SIGKILL);
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    process_ = -1;
    // Without a sandbox a process that left the group notices here: its socket is gone.
    channels_.clear();
    launcher_.close();
}

void Team::post(char kind, const std::string& doing, const std::string& bytes)
{
    post(kind, doing, [&](int) { return bytes; });
}

void Team::post(char kind, const std::string& doing, const std::function<std::string(int rank)>& bytes)
{
    doing_ = doing;
    asked_ns_ = monotonicNs();
    loaded_ = loaded_ || kind == rank_message::load;
    for (size_t rank = 0; rank < channels_.size(); ++rank) {
        waiting_[rank] = 1;
        // A rank that is gone shows when its answer is waited for.
        channels_[rank].send(kind, bytes(int(rank)));
    }
}

/// What a rank says about itself can blame the candidate only.
Failure Team::ranksFailure(const std::string& packed, int rank) const
{
    Failure failure = unpackFailure(packed);
    failure.rank = rank;
    failure.message = shortened(failure.message);
    failure.detail = shortened(failure.detail);
    const bool candidates =
        failure.kind == "setup_failed" || failure.kind == "crash" || failure.kind == "out_of_bounds";
    if (!candidates && (loaded_ || failure.kind != "environment"))
        failure.kind = "crash";
    return failure;
}

Outcome Team::failedRank(int rank)
{
    Failure failure;
    failure.kind = "crash";
    failure.rank = rank;
    const std::string who = "Rank " + std::to_string(rank);
    failure.message = who + " ended by itself during " + doing_ + ".";
    pollfd launcher{launcher_.socket(), POLLIN, 0};
    for (Message message; poll(&launcher, 1, launcher_patience_ms) > 0;) {
        if (launcher_.poll(message) != Channel::Arrival::message)
            break;
        Unpacker fields(message.bytes);
        const int64_t index = fields.number();
        const int status = int(fields.number());
        if (index != rank)
            continue;
        if (WIFSIGNALED(status))
            failure.message = who + " was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
                              strsignal(WTERMSIG(status)) + ") during " + doing_ + ".";
        else
            failure.message =
                who + " ended by itself with status " + std::to_string(WEXITSTATUS(status)) + " during " + doing_ + ".";
        break;
    }
    if (!loaded_) {
        failure.kind = "environment";
        failure.detail = "No candidate was loaded yet. Run cucoctl node probe to see what the node lacks.";
    }
    return failure;
}

Outcome Team::takeAnswers()
{
    for (size_t rank = 0; rank < channels_.size(); ++rank) {
        if (!waiting_[rank])
            continue;
        Message message;
        switch (channels_[rank].poll(message)) {
            case Channel::Arrival::nothing:
                break;
            case Channel::Arrival::gone:
                return failedRank(int(rank));
            case Channel::Arrival::message:
                if (message.kind == rank_message::failed)
                    return ranksFailure(message.bytes, int(rank));
                if (message.kind != rank_message::done)
                    return failedRank(int(rank));
                waiting_[rank] = 0;
                replies_[rank] = std::move(message.bytes);
        }
    }
    return std::nullopt;
}

Outcome Team::deadline() const
{
    const int64_t waited = monotonicNs() - asked_ns_;
    if (waited < patience_ns_)
        return std::nullopt;
    Failure failure;
    failure.kind = "timeout";
    std::string late;
    for (size_t rank = 0; rank < waiting_.size(); ++rank) {
        if (!waiting_[rank])
            continue;
        if (failure.rank < 0)
            failure.rank = int(rank);
        late += (late.empty() ? "" : ", ") + std::to_string(rank);
    }
    failure.message = "After " + std::to_string(waited / 1'000'000'000) + " s rank " + late + " had not finished " +
                      doing_ + ": it waits for something that does not come, or never ends.";
    return failure;
}

Outcome Team::collect()
{
    std::vector<pollfd> sockets;
    for (;;) {
        CUCO_CHECK(takeAnswers());
        sockets.clear();
        for (size_t rank = 0; rank < channels_.size(); ++rank) {
            if (waiting_[rank])
                sockets.push_back({channels_[rank].socket(), POLLIN, 0});
        }
        if (sockets.empty())
            return std::nullopt;
        CUCO_CHECK(deadline());
        poll(sockets.data(), nfds_t(sockets.size()), 100);
    }
}

Outcome Team::collect(std::vector<std::string>& replies)
{
    CUCO_CHECK(collect());
    replies = replies_;
    return std::nullopt;
}

Outcome Team::run(const Stretch& stretch, StretchTimes& times, const std::function<Outcome()>& at_end)
{
    const uint32_t number = ++stretch_;
    post(rank_message::run, doing_, [&](int rank) {
        const int64_t delay = stretch.delay_ns.empty() ? 0 : stretch.delay_ns[size_t(rank)];
        return Packer()
            .number(int64_t(number))
            .number(int64_t(stretch.first_set))
            .number(int64_t(stretch.length))
            .number(delay)
            .number(int64_t(stretch.snapshot))
            .number(int64_t(stretch.flush))
            .number(int64_t(stretch.warm_set))
            .bytes();
    });
    const auto waitFor = [&](std::atomic<uint32_t> TimingPage::Rank::*flag, int64_t& last_ns) -> Outcome {
        std::vector<char> there(waiting_.size(), 0);
        size_t missing = there.size();
        for (int spins = 0; missing > 0; ++spins) {
            for (size_t rank = 0; rank < there.size(); ++rank) {
                if (!there[rank] && (page_->ranks[rank].*flag).load(std::memory_order_acquire) == number) {
                    last_ns = monotonicNs();
                    there[rank] = 1;
                    --missing;
                }
            }
            if (spins % spins_between_looks == spins_between_looks - 1) {
                CUCO_CHECK(takeAnswers());
                CUCO_CHECK(deadline());
            }
        }
        return std::nullopt;
    };
    int64_t ready_ns = 0, end_ns = 0;
    CUCO_CHECK(waitFor(&TimingPage::Rank::ready, ready_ns));
    const int64_t start_ns = monotonicNs() + start_lead_ns;
    page_->start_ns.store(start_ns, std::memory_order_relaxed);
    page_->go.store(number, std::memory_order_release);
    CUCO_CHECK(waitFor(&TimingPage::Rank::ended, end_ns));
    if (at_end)
        CUCO_CHECK(at_end());
    CUCO_CHECK(collect());
    times.makespan_us = double(end_ns - start_ns) * 1e-3;
    times.event_us = 0;
    for (const auto& reply : replies_) {
        Unpacker fields(reply);
        times.event_us = std::max(times.event_us, fields.real());
    }
    return std::nullopt;
}

}  // namespace cuco_harness
