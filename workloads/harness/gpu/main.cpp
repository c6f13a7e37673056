// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/host_agent.h"
#include "gpu/launcher_process.h"
#include "gpu/supervisor.h"
#include "job.h"
#include "report.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv)
{
    using namespace cuco_harness;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    std::signal(SIGPIPE, SIG_IGN);
    if (arguments.size() >= 2 && arguments[0] == "ranks")
        return launchRanks({arguments.begin() + 1, arguments.end()});
    if (arguments.size() == 2 && arguments[0] == "host")
        return serveAsHostAgent(arguments[1]);
    const bool sandboxed = arguments.size() > 3 && arguments[2] == "--";
    if (arguments.size() < 2 || arguments[0] != "run" || (arguments.size() > 2 && !sandboxed)) {
        std::fprintf(stderr, "usage: harness run JOB.txt [-- COMMAND THAT RUNS ITS ARGUMENTS IN A SANDBOX]\n");
        return 2;
    }
    const int report_descriptor = reportDescriptor();
    const auto job = takeJob(arguments[1], report_descriptor);
    if (!job)
        return 0;
    std::vector<std::string> sandbox;
    if (sandboxed)
        sandbox.assign(arguments.begin() + 3, arguments.end());
    return superviseJob(*job, sandbox, report_descriptor);
}
