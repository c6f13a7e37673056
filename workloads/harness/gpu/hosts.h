// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/host_share.h"
#include "gpu/host_start.h"
#include "gpu/stream_relay.h"
#include "gpu/team.h"
#include "job.h"
#include "outcome.h"

#include <sys/types.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cuco_harness {

/// The hosts of a job whose ranks are on several. An agent runs on each, started by mpirun, srun or whatever the job
/// names; through it the supervisor speaks to the observer and the ranks there as if they were here.
class Hosts {
public:
    Hosts() = default;
    ~Hosts();
    Hosts(const Hosts&) = delete;
    Hosts& operator=(const Hosts&) = delete;

    /// Launches the agents, and through them the observers and the ranks of these programs. `patience_ms`: for all
    /// agents to come.
    Outcome start(const Job& job, const std::vector<const Program*>& programs, const std::vector<std::string>& sandbox,
                  int patience_ms);

    /// The ways to the observers, one a host. Once.
    std::vector<Channel> takeObservers();
    /// The ways to the ranks of programs[team]. Once each.
    TeamLinks takeLinks(int team);
    /// Messages travel from here on.
    void open();

    const std::vector<std::string>& names() const { return names_; }

private:
    struct Host {
        Channel messages;
        HostShare share;
        std::vector<Channel> ours, theirs;  ///< of each stream: the supervisor's end and the relay's
        std::unique_ptr<StreamRelay> relay;
        std::thread thread;
    };

    Outcome launch(const Job& job, const std::string& invitation);
    Outcome awaitAgents(const Job& job, AgentListener& listener, int patience_ms);
    void dealDevices(const Job& job);
    Outcome startHost(Host& host, const HostStart& start);
    Outcome launcherEnded(const Job& job);

    std::vector<Host> hosts_;
    std::vector<std::string> names_;
    std::vector<Channel> clocks_;
    pid_t launcher_ = -1;
};

}  // namespace cuco_harness
