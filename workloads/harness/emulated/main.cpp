// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "emulated/platform.h"
#include "emulated/verifier.h"
#include "job.h"
#include "report.h"

#include <csignal>
#include <cstdio>
#include <string>

int main(int argc, char** argv)
{
    using namespace cuco_harness;
    const std::string mode = argc == 3 ? argv[1] : "";
    if (mode != "run" && mode != "check") {
        std::fprintf(stderr, "usage: harness run|check JOB.txt\n");
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    const int report_descriptor = reportDescriptor();
    const auto job = takeJob(argv[2], report_descriptor);
    if (!job)
        return 0;
    return mode == "run" ? runRanks(*job, report_descriptor) : verify(*job, report_descriptor);
}
