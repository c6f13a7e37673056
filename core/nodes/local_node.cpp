// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/local_node.h"

#include "core/base/subprocess.h"
#include "core/nodes/cache_folder.h"
#include "core/nodes/nccl_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Result<std::vector<GpuInfo>> findGpus(std::stop_token stop)
{
    const auto program = findProgram("nvidia-smi");
    if (!program)
        return failure("No NVIDIA driver was found.", "nvidia-smi",
                       "Install the driver of your GPU, or use the emulated node.");
    const auto outcome = runCommand(shortCommand({program->string(), "--query-gpu=name,memory.total,driver_version",
                                                  "--format=csv,noheader,nounits"}),
                                    stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    auto gpus = outcome->succeeded() ? parseNvidiaSmi(outcome->out) : std::vector<GpuInfo>();
    if (gpus.empty()) {
        const std::string_view said = trimmed(std::string_view(outcome->out).substr(0, outcome->out.find('\n')));
        return failure("The NVIDIA driver reports no GPU.", said.empty() ? "nvidia-smi" : std::string(said),
                       "Check that the driver is loaded and that the GPU is visible to you, or use the emulated node.");
    }
    return gpus;
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

std::vector<GpuInfo> parseNvidiaSmi(std::string_view csv)
{
    std::vector<GpuInfo> gpus;
    while (!csv.empty()) {
        const auto end = std::min(csv.find('\n'), csv.size());
        const std::string_view line = csv.substr(0, end);
        csv.remove_prefix(std::min(end + 1, csv.size()));
        const auto second = line.rfind(',');
        const auto first = second == 0 || second == line.npos ? line.npos : line.rfind(',', second - 1);
        if (first == line.npos)
            continue;
        const auto memory = trimmed(line.substr(first + 1, second - first - 1));
        GpuInfo gpu{std::string(trimmed(line.substr(0, first))), 0, std::string(trimmed(line.substr(second + 1)))};
        std::uint64_t mebibytes = 0;
        const auto parsed = std::from_chars(memory.data(), memory.data() + memory.size(), mebibytes);
        if (parsed.ec != std::errc() || parsed.ptr != memory.data() + memory.size() || mebibytes > (1u << 30))
            continue;
        gpu.memory_bytes = mebibytes << 20;
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

Result<NodeProbe> LocalNode::probe(std::stop_token stop)
{
    NodeProbe probe;
    probe.node = name_;
    probe.kind = kind();
    const auto toolkit = findCudaToolkit(stop);
    if (toolkit)
        probe.compiler = "nvcc " + toolkit->version;
    else
        probe.problems.push_back(toolkit.error());
    if (auto gpus = findGpus(stop)) {
        probe.gpus = std::move(*gpus);
        probe.max_ranks = static_cast<int>(probe.gpus.size());
        probe.capabilities = {"copy_engine", "cooperative_launch"};
    } else {
        probe.problems.push_back(gpus.error());
    }
    probe.nccl = findNccl(toolkit ? std::optional(toolkit->home) : std::nullopt, stop);
    if (std::ranges::none_of(probe.nccl, &NcclInstall::usable))
        probe.problems.push_back(ncclProblem(probe.nccl));
    else if (!probe.gpus.empty() && std::ranges::any_of(probe.nccl, hasDeviceApi))
        probe.capabilities.insert("lsa");
    if (stop.stop_requested())
        return failure("The probe was stopped.", name_);
    if (const auto folder = cacheFolder(); !folder)
        probe.problems.push_back(folder.error());
    describeSandbox(jobs_.sandboxTool(stop), probe);
    probe.usable = probe.problems.empty();
    return probe;
}

}  // namespace cuco
