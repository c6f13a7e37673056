// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/node_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace cuco {

namespace {

using Version = std::array<int, 2>;

constexpr Version oldest_toolkit{12, 4};
constexpr std::uint64_t needed_space = 1ull << 30;
constexpr std::uint64_t comfortable_space = 8ull << 30;

Version parseVersion(std::string_view text)
{
    Version version{};
    for (int& part : version) {
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), part);
        if (parsed.ec != std::errc() || parsed.ptr == text.data() + text.size())
            break;
        text.remove_prefix(std::min(static_cast<std::size_t>(parsed.ptr - text.data()) + 1, text.size()));
    }
    return version;
}

/// The first driver branch that runs programs of a CUDA major version.
int firstDriver(int cuda_major)
{
    switch (cuda_major) {
        case 12:
            return 525;
        case 13:
            return 580;
        default:
            return 0;
    }
}

std::string named(const GpuState& gpu)
{
    return fmt::format("GPU {} ({})", gpu.info.index, gpu.info.name);
}

void judgeGpu(const GpuState& gpu, NodeFindings& findings)
{
    const int index = gpu.info.index;
    const std::string reset = fmt::format(
        "End what runs on it and reset it: sudo nvidia-smi --gpu-reset -i {}. \"NVRM: Xid\" in sudo dmesg says why.",
        index);
    if (!gpu.error.empty())
        findings.problems.push_back({named(gpu) + " is in an error state.", gpu.error, reset});
    else if (gpu.recovery_action == "Reset" || gpu.recovery_action.starts_with("Drain"))
        findings.problems.push_back({named(gpu) + " must be reset.", gpu.recovery_action, reset});
    else if (gpu.recovery_action == "Reboot")
        findings.problems.push_back({named(gpu) + " needs a restart of the machine.", "", "Restart the machine."});
    if (gpu.pending_repair == "Yes")
        findings.remarks.push_back({named(gpu) + " waits for a reset to put broken memory out of use.", "", reset});
    if (!gpu.uncorrected_errors.empty() && gpu.uncorrected_errors != "0")
        findings.remarks.push_back(
            {fmt::format("{} had {} memory errors that could not be corrected.", named(gpu), gpu.uncorrected_errors),
             "", reset});
    if (gpu.mig_mode == "Enabled")
        findings.problems.push_back({named(gpu) + " is divided into instances (MIG), which cannot reach each other.",
                                     "", fmt::format("Switch it off: sudo nvidia-smi -i {} -mig 0.", index)});
    if (gpu.compute_mode == "Prohibited")
        findings.problems.push_back({named(gpu) + " admits no compute programs.", "compute mode Prohibited",
                                     fmt::format("Admit them: sudo nvidia-smi -i {} -c DEFAULT.", index)});
    else if (gpu.compute_mode.starts_with("Exclusive"))
        findings.problems.push_back(
            {named(gpu) + " admits one program at a time; candidate and baseline must be there both.",
             "compute mode " + gpu.compute_mode,
             fmt::format("Admit several: sudo nvidia-smi -i {} -c DEFAULT.", index)});
}

void judgeDriver(const GpuSurvey& survey, const std::string& toolkit_version, bool has_compatibility_driver,
                 NodeFindings& findings)
{
    const int major = parseVersion(toolkit_version)[0];
    if (survey.gpus.empty() || major == 0 || has_compatibility_driver)
        return;
    const std::string& driver = survey.gpus.front().info.driver;
    // A driver runs all of its CUDA major version, whatever the minor one.
    const int runs = parseVersion(survey.driver_cuda)[0];
    const int branch = parseVersion(driver)[0];
    const bool too_old = runs > 0 ? runs < major : branch > 0 && branch < firstDriver(major);
    if (too_old)
        findings.problems.push_back(
            {fmt::format("The driver {} is older than the CUDA toolkit {}.", driver, toolkit_version),
             runs > 0 ? fmt::format("it runs CUDA {}", survey.driver_cuda) : "",
             firstDriver(major) > 0
                 ? fmt::format(
                       "Install driver {} or newer, or a toolkit of the driver's CUDA version and set CUDA_HOME.",
                       firstDriver(major))
                 : "Install a newer driver, or a toolkit of the driver's CUDA version and set CUDA_HOME."});
}

}  // namespace

void report(NodeFindings findings, NodeProbe& probe)
{
    std::ranges::move(findings.problems, std::back_inserter(probe.problems));
    std::ranges::move(findings.remarks, std::back_inserter(probe.remarks));
}

NodeFindings judgeGpus(const GpuSurvey& survey, const std::string& toolkit_version, bool has_compatibility_driver,
                       std::size_t least)
{
    NodeFindings findings;
    findings.problems = survey.problems;
    if (survey.gpus.size() == 1 && least > 1)
        findings.problems.push_back(
            {"There is one GPU; a workload needs at least two.", survey.gpus.front().info.name,
             "Use a machine with more GPUs, or the emulated node. CUDA_VISIBLE_DEVICES may hide "
             "some."});
    for (const auto& gpu : survey.gpus)
        judgeGpu(gpu, findings);
    judgeDriver(survey, toolkit_version, has_compatibility_driver, findings);
    if (!survey.missing_peers.empty()) {
        const auto [a, b] = survey.missing_peers.front();
        findings.remarks.push_back(
            {fmt::format("{} of the pairs of GPUs cannot reach each other's memory, so candidates that need LSA are "
                         "rejected.",
                         survey.missing_peers.size()),
             fmt::format("GPU {} and GPU {}", a, b),
             "Choose GPUs that nvidia-smi topo -p2p r shows as OK with CUDA_VISIBLE_DEVICES; in a virtual machine, ask "
             "for GPUs with NVLink."});
    }
    for (const auto& neighbour : survey.neighbours)
        findings.remarks.push_back(
            {fmt::format("Another program uses GPU {} and may disturb times.", neighbour.gpu),
             fmt::format("{}, process {}, {} MiB", neighbour.program, neighbour.process, neighbour.memory_bytes >> 20),
             "Wait until it has ended, or choose other GPUs with CUDA_VISIBLE_DEVICES."});
    return findings;
}

std::vector<Error> judgeToolkit(const std::string& version)
{
    if (parseVersion(version) >= oldest_toolkit)
        return {};
    return {
        {fmt::format("The CUDA toolkit {} is too old; {}.{} is needed.", version, oldest_toolkit[0], oldest_toolkit[1]),
         "", "Install a newer CUDA toolkit and set CUDA_HOME."}};
}

NodeFindings judgeSpace(const std::filesystem::path& folder, std::uint64_t free_bytes)
{
    constexpr const char* remedy = "Free some space, or set XDG_CACHE_HOME to a folder on a larger disk.";
    NodeFindings findings;
    if (free_bytes < needed_space)
        findings.problems.push_back(
            {fmt::format("The disk for jobs and built programs is full: {} MiB are left.", free_bytes >> 20),
             folder.string(), remedy});
    else if (free_bytes < comfortable_space)
        findings.remarks.push_back({fmt::format("The disk for jobs and built programs has {:.1f} GiB left.",
                                                static_cast<double>(free_bytes) / (1ull << 30)),
                                    folder.string(), remedy});
    return findings;
}

}  // namespace cuco
