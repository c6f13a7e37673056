// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workloads/harness/gpu/host_link.h"

#include <thread>

namespace cuco_harness {

inline constexpr int patience_ms = 5000;

/// Both ends of a connection as a supervisor and an agent have it.
struct Connection {
    Channel supervisor, agent;
};

inline Connection connect(AgentListener& listener, bool clock)
{
    Connection connection;
    Greeting greeting;
    greeting.clock = clock;
    std::thread agent([&] { connection.agent = reachSupervisor(listener.invitation(), greeting, patience_ms); });
    listener.accept(patience_ms, connection.supervisor);
    agent.join();
    return connection;
}

}  // namespace cuco_harness
