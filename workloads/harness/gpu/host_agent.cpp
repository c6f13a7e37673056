// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/host_agent.h"

#include "gpu/failure_wire.h"
#include "gpu/host_clock.h"
#include "gpu/host_start.h"
#include "gpu/observer.h"
#include "gpu/observer_process.h"
#include "gpu/rank_launch.h"
#include "gpu/stream_relay.h"
#include "gpu/visible_gpus.h"
#include "job.h"

#include <sys/socket.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

namespace cuco_harness {
namespace {

constexpr int patience_ms = 3000;

/// What mpirun, srun and their kin number their processes by; 0 when there is nothing of the kind.
int numberAmongAgents()
{
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* value = std::getenv(name))
            return std::atoi(value);
    }
    return 0;
}

std::string hostName()
{
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return name;
}

class HostAgent {
public:
    explicit HostAgent(HostStart start) : start_(std::move(start)) {}

    Outcome begin()
    {
        if (chdir(start_.folder.c_str()) != 0)
            return environmentFailure("it does not see the job's folder " + start_.folder +
                                      ". Put the cache (XDG_CACHE_HOME) on a file system that all hosts share.");
        std::string error;
        auto job = parseJob(start_.job, start_.folder + "/", error);
        if (!job)
            return environmentFailure(error);
        job_ = std::move(*job);
        takeEnvironment();
        seeOnlyGpus(start_.share.devices);
        // Before there are threads or anything else that a fork should not copy.
        CUCO_CHECK(observer_.start(job_, start_.share));
        streams_.resize(streamsOf(start_.share, start_.programs.size()));
        streams_[observer_stream] = observer_.takeChannel();
        for (size_t i = 0; i < start_.programs.size(); ++i) {
            std::vector<Channel> ranks;
            RankLaunch& launch = *launches_.emplace_back(std::make_unique<RankLaunch>());
            if (!launch.start(start_.sandbox, start_.programs[i], start_.share, ranks,
                              streams_[launcherStream(start_.share, i)]))
                return environmentFailure("the processes of the ranks could not be started.");
            lines_.emplace_back(launch.page(), start_.share.first_rank, start_.share.ranks);
            for (int rank = 0; rank < start_.share.ranks; ++rank)
                streams_[rankStream(start_.share, i, start_.share.first_rank + rank)] = std::move(ranks[size_t(rank)]);
        }
        return std::nullopt;
    }

    void serve(Channel messages, Channel& clock)
    {
        StreamRelay relay(std::move(messages), std::move(streams_));
        relay.descriptors_for = [&](size_t stream, const Message& message) {
            return stream == observer_stream && message.kind == observer_message::attach
                       ? sharedMemory(relay, teamOfAttach(message.bytes))
                       : std::vector<int>();
        };
        relay.closed = [&](size_t stream) {
            for (size_t i = 0; i < launches_.size(); ++i) {
                if (stream == launcherStream(start_.share, i))
                    launches_[i]->end();
            }
        };
        relay.lost = [&] { shutdown(clock.socket(), SHUT_RDWR); };
        std::thread clock_thread([&] { serveHostClock(clock, lines_); });
        relay.run();
        clock_thread.join();
    }

private:
    /// Whatever this host's shell or launcher has set, a candidate sees no more than on the supervisor's host. What
    /// this host says itself about CUDA and NCCL stays.
    void takeEnvironment() const
    {
        Variables kept;
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string text(*entry);
            const auto equals = text.find('=');
            const std::string name = text.substr(0, equals);
            const bool own = name == "PATH" || name == "HOME" || name == "LANG" || name == "TMPDIR";
            if (equals != text.npos && (own || name == "CUDA_VISIBLE_DEVICES" || name.rfind("NCCL_", 0) == 0))
                kept.emplace_back(name, text.substr(equals + 1));
        }
        clearenv();
        for (const auto& [name, value] : kept)
            setenv(name.c_str(), value.c_str(), 1);
        for (const auto& [name, value] : start_.environment)
            setenv(name.c_str(), value.c_str(), 0);
    }

    /// What the team's ranks have sent, in the order in which the observer takes it.
    std::vector<int> sharedMemory(StreamRelay& relay, int team) const
    {
        std::vector<int> descriptors;
        if (team < 0 || size_t(team) >= launches_.size())
            return descriptors;
        for (int i = 0; i < start_.share.ranks; ++i) {
            for (size_t region = 0; region < observer_message::regions_of_rank; ++region) {
                const int descriptor =
                    relay.stream(rankStream(start_.share, size_t(team), start_.share.first_rank + i)).takeDescriptor();
                if (descriptor >= 0)
                    descriptors.push_back(descriptor);
            }
        }
        return descriptors;
    }

    const HostStart start_;
    Job job_;
    Observer observer_;
    std::vector<std::unique_ptr<RankLaunch>> launches_;
    std::vector<PageStartLine> lines_;
    std::vector<Channel> streams_;
};

int complain(const std::string& sentence)
{
    std::fprintf(stderr, "%s\n", sentence.c_str());
    return 1;
}

}  // namespace

int serveAsHostAgent(const std::string& invitation_file)
{
    Greeting greeting;
    greeting.number = numberAmongAgents();
    greeting.host = hostName();
    const auto invitation = readInvitation(invitation_file);
    if (!invitation)
        return complain("Host " + greeting.host + " cannot read " + invitation_file +
                        ". Put the cache (XDG_CACHE_HOME) on a file system that all hosts share.");
    Channel messages = reachSupervisor(*invitation, greeting, patience_ms);
    greeting.clock = true;
    Channel clock = reachSupervisor(*invitation, greeting, patience_ms);
    if (messages.socket() < 0 || clock.socket() < 0)
        return complain("Host " + greeting.host + " cannot reach the supervisor on port " +
                        std::to_string(invitation->port) + " of any of its IPv4 addresses.");
    Message message;
    if (!messages.receive(message))
        return 0;
    auto start = unpackHostStart(message.bytes);
    if (message.kind != host_message::start || !start)
        return complain("Host " + greeting.host + " was told something it does not know.");
    HostAgent agent(std::move(*start));
    if (const auto failed = agent.begin()) {
        messages.send(host_message::failed, packFailure(*failed));
        return 1;
    }
    if (!messages.send(host_message::done, ""))
        return 0;
    agent.serve(std::move(messages), clock);
    return 0;
}

}  // namespace cuco_harness
