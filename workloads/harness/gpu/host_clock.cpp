// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/host_clock.h"

#include "gpu/host_link.h"

#include <poll.h>
#include <algorithm>

namespace cuco_harness {
namespace {

// What the supervisor asks: tell when the ranks are ready; start them and tell when they have ended; forget it.
constexpr char await_ready = 'w', start = 's', give_up = 'c';
// What a host answers.
constexpr char all_ready = 'r', all_ended = 'e';

// The start must have arrived on every host by then.
constexpr int64_t start_lead_ns = 1'000'000;
constexpr int patience_ms = 1;

Failure hostGone()
{
    return environmentFailure("A host of this job is gone. Its log says more, when it could still write one.");
}

std::string packedStretch(int team, uint32_t stretch, int64_t moment_ns, int64_t late_ns = 0)
{
    return Packer().number(int64_t(team)).number(int64_t(stretch)).number(moment_ns).number(late_ns).bytes();
}

/// Each of two clocks may be off by so much, in opposite directions.
int64_t sumOfTwoLargest(std::vector<int64_t> values)
{
    std::sort(values.rbegin(), values.rend());
    return values.size() > 1 ? values[0] + values[1] : values.empty() ? 0 : values[0];
}

}  // namespace

Outcome HostsStartLine::await(char kind, uint32_t stretch, const Look& look, std::vector<Told>& told)
{
    std::vector<char> there(clocks_.size(), 0);
    std::vector<pollfd> sockets;
    for (const auto& clock : clocks_)
        sockets.push_back({clock.socket(), POLLIN, 0});
    while (std::find(there.begin(), there.end(), 0) != there.end()) {
        poll(sockets.data(), nfds_t(sockets.size()), patience_ms);
        for (size_t i = 0; i < clocks_.size(); ++i) {
            Message message;
            auto arrival = clocks_[i].poll(message);
            for (; arrival == Channel::Arrival::message; arrival = clocks_[i].poll(message)) {
                Unpacker fields(message.bytes);
                const bool asked = fields.number() == team_ && fields.number() == int64_t(stretch);
                Told of_host;
                of_host.moment_ns = fields.number();
                of_host.late_ns = fields.number();
                if (message.kind == kind && asked && fields.ok()) {
                    told[i] = of_host;
                    there[i] = 1;
                }
            }
            if (arrival == Channel::Arrival::gone)
                return hostGone();
        }
        if (auto failed = look()) {
            for (auto& clock : clocks_)
                clock.send(give_up, "");
            return failed;
        }
    }
    return std::nullopt;
}

Outcome HostsStartLine::time(uint32_t stretch, const Look& look, int64_t& makespan_ns)
{
    std::vector<int64_t> leads_ns, uncertainties_ns;
    std::vector<Told> told(clocks_.size());
    for (auto& clock : clocks_)
        clock.send(await_ready, packedStretch(team_, stretch, 0));
    CUCO_CHECK(await(all_ready, stretch, look, told));
    for (auto& clock : clocks_) {
        const auto lead = measureClockLead(clock);
        if (!lead)
            return hostGone();
        leads_ns.push_back(lead->ns);
        uncertainties_ns.push_back(lead->uncertainty_ns);
    }
    uncertainty_ns_ = sumOfTwoLargest(uncertainties_ns);
    const int64_t start_ns = monotonicNs() + start_lead_ns + 2 * uncertainty_ns_;
    for (size_t i = 0; i < clocks_.size(); ++i)
        clocks_[i].send(start, packedStretch(team_, stretch, start_ns + leads_ns[i]));
    CUCO_CHECK(await(all_ended, stretch, look, told));
    int64_t end_ns = start_ns, late_ns = 0;
    for (size_t i = 0; i < clocks_.size(); ++i) {
        end_ns = std::max(end_ns, told[i].moment_ns - leads_ns[i]);
        late_ns = std::max(late_ns, told[i].late_ns);
    }
    makespan_ns = end_ns - start_ns;
    uncertainty_ns_ += late_ns;
    return std::nullopt;
}

Outcome HostsStartLine::lost()
{
    for (auto& clock : clocks_) {
        // What is still said of the stretch that has failed is nobody's concern.
        Message message;
        auto arrival = clock.poll(message);
        while (arrival == Channel::Arrival::message)
            arrival = clock.poll(message);
        if (arrival == Channel::Arrival::gone)
            return hostGone();
    }
    return std::nullopt;
}

void serveHostClock(Channel& clock, const std::vector<PageStartLine>& teams)
{
    // While flags are watched the supervisor says nothing but that it gives up.
    const auto look = [&]() -> Outcome {
        Message message;
        if (clock.poll(message) == Channel::Arrival::nothing)
            return std::nullopt;
        return environmentFailure("The supervisor has given up.");
    };
    for (Message message; clock.receive(message);) {
        if (message.kind == clock_question) {
            answerClock(clock);
            continue;
        }
        Unpacker fields(message.bytes);
        const auto team = size_t(fields.number());
        const auto stretch = uint32_t(fields.number());
        int64_t moment_ns = fields.number();
        if (!fields.ok() || team >= teams.size())
            continue;
        const PageStartLine& line = teams[team];
        if (message.kind == await_ready && !line.awaitReady(stretch, look))
            clock.send(all_ready, packedStretch(int(team), stretch, 0));
        if (message.kind == start) {
            line.go(stretch, moment_ns);
            const int64_t late_ns = std::max<int64_t>(0, monotonicNs() - moment_ns);
            if (!line.awaitEnd(stretch, look, moment_ns))
                clock.send(all_ended, packedStretch(int(team), stretch, moment_ns, late_ns));
        }
    }
}

}  // namespace cuco_harness
