// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/team.h"

#include "gpu/failure_wire.h"
#include "gpu/rank_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <algorithm>
#include <cstring>

namespace cuco_harness {
namespace {

// How long a rank's end may take to become known after its socket closed.
constexpr int launcher_patience_ms = 500;
constexpr size_t shown_bytes = 4096;

std::string shortened(std::string text)
{
    if (text.size() > shown_bytes)
        text.resize(shown_bytes);
    return text;
}

void blameTheNode(Failure& failure)
{
    failure.kind = "environment";
    failure.detail = "No candidate was loaded yet. Run cucoctl node probe to see what the node lacks.";
}

}  // namespace

Team::Team(const Program& program, int ranks, int64_t patience_ns)
    : program_(program), patience_ns_(patience_ns), waiting_(size_t(ranks), 0), replies_(size_t(ranks))
{
}

Team::~Team()
{
    end();
}

Outcome Team::start(const std::vector<std::string>& prefix)
{
    launch_ = std::make_unique<RankLaunch>();
    const HostShare share = onOneHost(int(waiting_.size()));
    links_.launchers.resize(1);
    if (!launch_->start(prefix, program_.variables, share, links_.ranks, links_.launchers[0]))
        return environmentFailure("The processes of the ranks could not be started.");
    links_.start_line = std::make_unique<PageStartLine>(launch_->page(), share.first_rank, share.ranks);
    return std::nullopt;
}

void Team::adopt(TeamLinks links)
{
    links_ = std::move(links);
}

void Team::end()
{
    if (launch_)
        launch_->end();
    links_.ranks.clear();
    links_.launchers.clear();
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
    for (size_t rank = 0; rank < links_.ranks.size(); ++rank) {
        waiting_[rank] = 1;
        // A rank that is gone shows when its answer is waited for.
        links_.ranks[rank].send(kind, bytes(int(rank)));
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

/// Its wait status, once its launcher knows.
std::optional<int> Team::endOf(int rank)
{
    std::vector<pollfd> sockets;
    for (const auto& launcher : links_.launchers)
        sockets.push_back({launcher.socket(), POLLIN, 0});
    while (poll(sockets.data(), nfds_t(sockets.size()), launcher_patience_ms) > 0) {
        for (size_t i = 0; i < sockets.size(); ++i) {
            if (sockets[i].revents == 0)
                continue;
            Message message;
            auto arrival = links_.launchers[i].poll(message);
            for (; arrival == Channel::Arrival::message; arrival = links_.launchers[i].poll(message)) {
                Unpacker fields(message.bytes);
                const int64_t index = fields.number();
                const int status = int(fields.number());
                if (index == rank)
                    return status;
            }
            if (arrival == Channel::Arrival::gone)
                sockets[i].fd = -1;
        }
    }
    return std::nullopt;
}

Outcome Team::failedRank(int rank)
{
    const auto status = endOf(rank);
    CUCO_CHECK(lost());
    Failure failure;
    failure.kind = "crash";
    failure.rank = rank;
    const std::string who = "Rank " + std::to_string(rank);
    failure.message = who + " ended by itself during " + doing_ + ".";
    if (status) {
        if (WIFSIGNALED(*status))
            failure.message = who + " was killed by signal " + std::to_string(WTERMSIG(*status)) + " (" +
                              strsignal(WTERMSIG(*status)) + ") during " + doing_ + ".";
        else
            failure.message = who + " ended by itself with status " + std::to_string(WEXITSTATUS(*status)) +
                              " during " + doing_ + ".";
    }
    if (!loaded_)
        blameTheNode(failure);
    return failure;
}

Outcome Team::takeAnswers()
{
    for (size_t rank = 0; rank < links_.ranks.size(); ++rank) {
        if (!waiting_[rank])
            continue;
        Message message;
        switch (links_.ranks[rank].poll(message)) {
            case Channel::Arrival::nothing:
                break;
            case Channel::Arrival::gone:
                return failedRank(int(rank));
            case Channel::Arrival::message:
                if (message.kind == rank_message::failed) {
                    // The others' communication fails too.
                    CUCO_CHECK(lost());
                    return ranksFailure(message.bytes, int(rank));
                }
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
    CUCO_CHECK(lost());
    Failure failure;
    failure.kind = "timeout";
    if (!loaded_)
        blameTheNode(failure);
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
        for (size_t rank = 0; rank < links_.ranks.size(); ++rank) {
            if (waiting_[rank])
                sockets.push_back({links_.ranks[rank].socket(), POLLIN, 0});
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
    int64_t makespan_ns = 0;
    const auto look = [&]() -> Outcome {
        CUCO_CHECK(takeAnswers());
        return deadline();
    };
    CUCO_CHECK(links_.start_line->time(number, look, makespan_ns));
    if (at_end)
        CUCO_CHECK(at_end());
    CUCO_CHECK(collect());
    times.makespan_us = double(makespan_ns) * 1e-3;
    times.start_uncertainty_us = double(links_.start_line->startUncertaintyNs()) * 1e-3;
    times.event_us = 0;
    for (const auto& reply : replies_) {
        Unpacker fields(reply);
        times.event_us = std::max(times.event_us, fields.real());
    }
    return std::nullopt;
}

}  // namespace cuco_harness
