// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/local_node.h"

#include "core/base/subprocess.h"
#include "core/nodes/cache_folder.h"
#include "core/nodes/gpu_query.h"
#include "core/nodes/nccl_probe.h"
#include "core/nodes/node_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace cuco {

namespace {

Command shortCommand(std::vector<std::string> argv)
{
    Command command;
    command.argv = std::move(argv);
    command.working_directory = "/";
    command.environment = scrubbedEnvironment();
    command.limits.wall = std::chrono::seconds(30);
    return command;
}

Error ncclProblem(const std::vector<NcclInstall>& found)
{
    constexpr const char* remedy =
        "Install NCCL 2.28 or newer with its header (libnccl2 and libnccl-dev of one version), or set NCCL_HOME.";
    for (const auto& install : found)
        if (!install.header_version.empty() && !install.library_version.empty())
            return {fmt::format("NCCL's header is version {} but its library is version {}.", install.header_version,
                                install.library_version),
                    install.header.string(), remedy};
    if (!found.empty() && found.front().header.empty())
        return {"NCCL's library is there but its header is not.", found.front().library.string(), remedy};
    if (!found.empty())
        return {"NCCL's header is there but its library is not.", found.front().header.string(), remedy};
    return {"No NCCL was found.", "", remedy};
}

bool hasDeviceApi(const NcclInstall& install)
{
    return install.usable() && std::filesystem::exists(install.header.parent_path() / "nccl_device.h");
}

}  // namespace

Result<CudaToolkit> findCudaToolkit(std::stop_token stop)
{
    std::vector<std::filesystem::path> choices;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable); home != nullptr && home[0] == '/')
            choices.push_back(std::filesystem::path(home) / "bin" / "nvcc");
    if (const auto on_path = findProgram("nvcc"))
        choices.push_back(*on_path);
    choices.emplace_back("/usr/local/cuda/bin/nvcc");
    const auto found =
        std::ranges::find_if(choices, [](const auto& nvcc) { return std::filesystem::is_regular_file(nvcc); });
    if (found == choices.end())
        return failure("No CUDA compiler (nvcc) was found.", "",
                       "Install the CUDA toolkit 12.4 or newer and set CUDA_HOME, or use the emulated node.");
    const auto outcome = runCommand(shortCommand({found->string(), "--version"}), stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    constexpr std::string_view mark = "release ";
    const auto at = outcome->out.find(mark);
    if (!outcome->succeeded() || at == std::string::npos)
        return failure("The CUDA compiler does not tell its version.", found->string(),
                       "Install the CUDA toolkit again.");
    CudaToolkit toolkit;
    std::error_code error;
    const auto real = std::filesystem::canonical(*found, error);
    toolkit.nvcc = error ? *found : real;
    toolkit.home = toolkit.nvcc.parent_path().parent_path();
    const auto begin = at + mark.size();
    toolkit.version = outcome->out.substr(begin, outcome->out.find_first_of(",\n", begin) - begin);
    return toolkit;
}

std::vector<std::filesystem::path> LocalNode::gpuLibraries() const
{
    const std::lock_guard guard(mutex_);
    if (gpu_libraries_)
        return *gpu_libraries_;
    gpu_libraries_.emplace();
    const auto toolkit = findCudaToolkit({});
    if (toolkit)
        gpu_libraries_->push_back(toolkit->home);
    for (const auto& nccl : findNccl(toolkit ? std::optional(toolkit->home) : std::nullopt, {}))
        if (nccl.usable())
            gpu_libraries_->insert(gpu_libraries_->end(), {nccl.header.parent_path(), nccl.library.parent_path()});
    return *gpu_libraries_;
}

std::vector<std::string> LocalNode::sandbox(const JobFolder& job, bool gpus,
                                            const std::vector<std::filesystem::path>& readable) const
{
    return sandboxed(job, gpus, readable, false);
}

std::vector<std::string> LocalNode::sandboxed(const JobFolder& job, bool gpus,
                                              const std::vector<std::filesystem::path>& readable, bool network) const
{
    auto shown = readable;
    if (gpus) {
        const auto libraries = gpuLibraries();
        shown.insert(shown.end(), libraries.begin(), libraries.end());
    }
    return jobs_.sandbox(job, gpus, shown, network);
}

Result<NodeProbe> LocalNode::probe(std::stop_token stop)
{
    NodeProbe probe;
    probe.node = name_;
    probe.kind = kind();
    const auto toolkit = findCudaToolkit(stop);
    if (toolkit) {
        probe.compiler = "nvcc " + toolkit->version;
        report({judgeToolkit(toolkit->version), {}}, probe);
    } else {
        probe.problems.push_back(toolkit.error());
    }
    bool peers = true;
    if (const auto program = findProgram("nvidia-smi")) {
        const auto survey = surveyGpus(*program, stop);
        for (const auto& gpu : survey.gpus)
            probe.gpus.push_back(gpu.info);
        probe.neighbours = survey.neighbours;
        peers = survey.missing_peers.empty();
        std::error_code error;
        const bool has_compatibility_driver = toolkit && std::filesystem::exists(toolkit->home / "compat", error);
        report(judgeGpus(survey, toolkit ? toolkit->version : "", has_compatibility_driver, span() ? 1 : 2), probe);
    } else {
        probe.problems.push_back(
            {"No NVIDIA driver was found.", "nvidia-smi", "Install the driver of your GPU, or use the emulated node."});
    }
    probe.max_ranks = static_cast<int>(probe.gpus.size());
    if (!probe.gpus.empty())
        probe.capabilities = {"copy_engine", "cooperative_launch"};
    probe.nccl = findNccl(toolkit ? std::optional(toolkit->home) : std::nullopt, stop);
    if (std::ranges::none_of(probe.nccl, &NcclInstall::usable))
        probe.problems.push_back(ncclProblem(probe.nccl));
    else if (std::ranges::none_of(probe.nccl, hasDeviceApi))
        probe.remarks.push_back({"NCCL has no device API, so candidates that need LSA are rejected.",
                                 "NCCL " + probe.nccl.front().header_version, "Install NCCL 2.28 or newer."});
    else if (!probe.gpus.empty() && peers)
        probe.capabilities.insert({"lsa", "lsa_in_host"});
    if (stop.stop_requested())
        return failure("The probe was stopped.", name_);
    jobs_.probe(probe, stop);
    probe.usable = probe.problems.empty();
    return probe;
}

}  // namespace cuco
