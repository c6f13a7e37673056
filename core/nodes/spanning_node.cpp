// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/spanning_node.h"

#include "core/nodes/host_findings.h"
#include "core/nodes/node_findings.h"

#include <fmt/format.h>

#include <cstdlib>

namespace cuco {

namespace {

// A queue of a cluster may let the launcher wait.
constexpr std::chrono::seconds patience{120};

/// The network adapters that NCCL can drive from the GPU are among these.
bool hasInfiniband()
{
    std::error_code error;
    return std::filesystem::directory_iterator("/sys/class/infiniband", error) != std::filesystem::directory_iterator();
}

}  // namespace

std::vector<std::string> SpanningNode::sandbox(const JobFolder& job, bool gpus,
                                               const std::vector<std::filesystem::path>& readable) const
{
    return sandboxed(job, gpus, readable, gpus);
}

Result<NodeProbe> SpanningNode::probe(std::stop_token stop)
{
    auto probe = LocalNode::probe(stop);
    if (!probe)
        return probe;
    probe->max_ranks = span_.gpus();
    probe->capabilities.erase("lsa");
    probe->capabilities.erase("copy_engine");
    if (probe->capabilities.contains("lsa_in_host") && hasInfiniband())
        probe->capabilities.insert("gin");
    if (probe->sandboxed)
        probe->remarks.push_back({"Candidates see the network, because NCCL needs it between hosts.", name(),
                                  "Do not evaluate sources that you do not trust on these hosts."});
    const auto launch = launchCommand(span_, stop);
    const auto folder = createJob();
    if (!launch || !folder) {
        probe->problems.push_back(launch ? folder.error() : launch.error());
    } else {
        Command command;
        command.argv = hostSurveyCommand(*launch, (*folder)->path());
        command.working_directory = "/";
        command.environment = launcherVariables();
        command.environment.merge(scrubbedEnvironment());
        command.limits.wall = patience;
        const auto outcome = runCommand(command, stop);
        if (!outcome)
            return std::unexpected(outcome.error());
        if (stop.stop_requested())
            return failure("The probe was stopped.", name());
        report({judgeHosts(span_, *outcome), {}}, *probe);
    }
    probe->usable = probe->problems.empty();
    return probe;
}

}  // namespace cuco
