// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/cuda_toolchain.h"

#include "core/base/files.h"
#include "core/nodes/build_cache.h"
#include "core/nodes/compiler_log.h"
#include "core/nodes/gpu_query.h"
#include "core/nodes/host_findings.h"
#include "core/nodes/nccl_probe.h"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <map>

namespace cuco {

namespace {

/// "8.0\n8.0\n" as "sm_80"; "9.0" as "sm_90a", without which nvcc knows neither wgmma nor setmaxnreg.
std::string architectureOf(const std::string& compute_capabilities)
{
    std::string digits;
    for (const char c : compute_capabilities.substr(0, compute_capabilities.find('\n')))
        if (c >= '0' && c <= '9')
            digits += c;
    if (digits.empty())
        return digits;
    return "sm_" + digits + (digits == "90" ? "a" : "");
}

/// Code for this architecture alone: -arch=sm_90a would compile every source for compute_90 too.
std::string targetFlag(const std::string& architecture)
{
    return "-gencode=arch=compute_" + architecture.substr(architecture.find('_') + 1) + ",code=" + architecture;
}

struct Cupti {
    std::filesystem::path header, library;  ///< folder of cupti.h; libcupti.so
};

Result<Cupti> findCupti(const std::filesystem::path& toolkit)
{
    Cupti cupti;
    std::error_code error;
    for (const auto& folder : {toolkit / "extras" / "CUPTI", toolkit}) {
        if (cupti.header.empty() && std::filesystem::exists(folder / "include" / "cupti.h", error))
            cupti.header = folder / "include";
        if (cupti.library.empty() && std::filesystem::exists(folder / "lib64" / "libcupti.so", error))
            cupti.library = folder / "lib64" / "libcupti.so";
    }
    if (!cupti.header.empty() && !cupti.library.empty())
        return cupti;
    return failure("No profile was taken: the CUDA toolkit has no CUPTI.", toolkit.string(),
                   "Install the toolkit's CUPTI package (cuda-cupti-dev).");
}

std::uint64_t hostMemoryBytes()
{
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::vector<std::string> CudaToolchain::compilerCommand() const
{
    return {toolkit_.nvcc.string(),
            targetFlag(architecture_),
            "-std=c++17",
            "-O3",
            "-lineinfo",
            "-Xcompiler",
            "-fPIC",
            "-I",
            nccl_.header.parent_path().string(),
            "-I",
            (workloads_ / "harness").string()};
}

/// By full path and with the run path: whatever else the loader knows, this pair is what runs.
std::vector<std::string> CudaToolchain::libraries() const
{
    return {"-Xlinker", nccl_.library.string(),
            "-Xlinker", "-rpath",
            "-Xlinker", nccl_.library.parent_path().string(),
            "-Xlinker", "-rpath",
            "-Xlinker", (toolkit_.home / "lib64").string(),
            "-lcublas", "-ldl"};
}

Result<void> CudaToolchain::findParts(Node& node, std::stop_token stop)
{
    auto toolkit = findCudaToolkit(stop);
    if (!toolkit)
        return std::unexpected(toolkit.error());
    toolkit_ = std::move(*toolkit);
    const auto installs = findNccl(toolkit_.home, stop);
    const auto usable = std::ranges::find_if(installs, &NcclInstall::usable);
    if (usable == installs.end())
        return failure("No NCCL with header and library of one version was found.", "",
                       "Install libnccl2 and libnccl-dev of one version, or set NCCL_HOME.");
    nccl_ = *usable;
    if (!architecture_.empty())
        return {};
    Command command;
    command.argv = {"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"};
    if (const auto program = findProgram("nvidia-smi"))
        command.argv.front() = program->string();
    command.working_directory = "/";
    const auto outcome = node.run(command, stop);
    if (outcome && outcome->succeeded())
        architecture_ = architectureOf(outcome->out);
    if (architecture_.empty())
        return failure("The GPU's architecture cannot be read from nvidia-smi.", "",
                       "Check the NVIDIA driver, or use the emulated node.");
    return {};
}

Result<void> CudaToolchain::prepare(Node& node, const Workload& workload, std::stop_token stop)
{
    compile_timeout_ = workload.compile_timeout;
    run_timeout_ = workload.run_timeout;
    auto headers = WorkloadHeaders::read(workload);
    if (!headers)
        return std::unexpected(headers.error());
    headers_ = std::move(*headers);
    if (auto found = findParts(node, stop); !found)
        return found;
    if (auto harness = prepareHarness(node, stop); !harness)
        return harness;
    auto reference = buildOwn(node, workload.reference_source, stop);
    if (!reference)
        return std::unexpected(reference.error());
    reference_ = std::move(*reference);
    return prepareProfiler(node, stop);
}

Result<void> CudaToolchain::prepareHarness(Node& node, std::stop_token stop)
{
    const auto harness = workloads_ / "harness";
    BuildInputs inputs;
    inputs.add("compiler", toolkit_.nvcc.string() + " " + toolkit_.version + " " + architecture_);
    inputs.add("nccl", nccl_.header.string() + " " + nccl_.library.string() + " " + nccl_.header_version);
    if (auto added = inputs.addFolder(harness); !added)
        return added;
    runtime_hash_ = inputs.key();
    const auto folder = cachedBuild("cuda", runtime_hash_, stop, [&](const auto& build_folder) -> Result<void> {
        const auto sources = harnessSources(harness, "gpu");
        if (!sources)
            return std::unexpected(sources.error());
        std::vector<std::vector<std::string>> compile;
        auto link = compilerCommand();
        for (const auto& source : *sources) {
            auto command = compilerCommand();
            const std::string object = source.filename().string() + ".o";
            command.insert(command.end(), {"-c", source.string(), "-o", object});
            compile.push_back(std::move(command));
            link.push_back(object);
        }
        const auto with = libraries();
        link.insert(link.end(), with.begin(), with.end());
        link.insert(link.end(), {"-Xlinker", "--export-dynamic", "-lpthread", "-o", "harness"});
        if (auto compiled = runBuild(node, build_folder, std::move(compile), stop); !compiled)
            return compiled;
        return runBuild(node, build_folder, {link}, stop);
    });
    if (!folder)
        return std::unexpected(folder.error());
    harness_ = *folder / "harness";
    return {};
}

/// Without CUPTI the node takes no profiles; all else works.
Result<void> CudaToolchain::prepareProfiler(Node& node, std::stop_token stop)
{
    const auto cupti = findCupti(toolkit_.home);
    if (!cupti) {
        profiler_problem_ = cupti.error();
        return {};
    }
    const auto folder = workloads_ / "harness" / "profile";
    BuildInputs inputs;
    inputs.add("runtime", runtime_hash_);
    inputs.add("cupti", cupti->header.string() + " " + cupti->library.string());
    const auto built = cachedBuild("cuda", inputs.key(), stop, [&](const auto& build_folder) -> Result<void> {
        const auto sources = sourcesIn(folder);
        if (!sources)
            return std::unexpected(sources.error());
        auto command = compilerCommand();
        command.insert(command.end(), {"-shared", "-I", cupti->header.string()});
        for (const auto& source : *sources)
            command.push_back(source.string());
        command.insert(command.end(),
                       {"-Xlinker", cupti->library.string(), "-Xlinker", "-rpath", "-Xlinker",
                        cupti->library.parent_path().string(), "-ldl", "-lpthread", "-o", "libcuco_profile.so"});
        return runBuild(node, build_folder, {command}, stop);
    });
    if (!built)
        return std::unexpected(built.error());
    profiler_ = *built / "libcuco_profile.so";
    return {};
}

Result<std::filesystem::path> CudaToolchain::buildOwn(Node& node, const std::filesystem::path& source,
                                                      std::stop_token stop)
{
    const auto text = readFile(source);
    if (!text)
        return std::unexpected(text.error());
    const std::string object = source.stem().string() + ".so";
    BuildInputs inputs;
    inputs.add("runtime", runtime_hash_);
    inputs.add(object, *text);
    headers_.addTo(inputs);
    const auto folder = cachedBuild("cuda", inputs.key(), stop, [&](const auto& build_folder) -> Result<void> {
        // A copy, so that its own includes are those that went into the key.
        const std::string copy = source.filename().string();
        if (auto written = writeFileAtomically(build_folder / copy, *text); !written)
            return written;
        if (auto written = headers_.write(build_folder); !written)
            return written;
        auto command = compilerCommand();
        const auto with = libraries();
        command.insert(command.end(), {"-shared", copy, "-o", object});
        command.insert(command.end(), with.begin(), with.end());
        return runBuild(node, build_folder, {command}, stop);
    });
    if (!folder)
        return std::unexpected(folder.error());
    return *folder / object;
}

Result<std::expected<void, BuildFault>> CudaToolchain::build(Node& node, const JobFolder& job,
                                                             const std::string& source, std::stop_token stop)
{
    return compile(node, job, source, "candidate.so", {}, stop);
}

Result<std::expected<void, BuildFault>> CudaToolchain::buildProfiled(Node& node, const JobFolder& job,
                                                                     const std::string& source, std::stop_token stop)
{
    if (profiler_.empty())
        return std::unexpected(profiler_problem_);
    return compile(node, job, source, "profiled.so", {"-DCUCO_PROFILE"}, stop);
}

std::map<std::string, std::string> CudaToolchain::profileVariables() const
{
    return {{"CUDA_INJECTION64_PATH", profiler_.string()}};
}

Result<std::expected<void, BuildFault>> CudaToolchain::compile(Node& node, const JobFolder& job,
                                                               const std::string& source, const std::string& object,
                                                               const std::vector<std::string>& flags,
                                                               std::stop_token stop)
{
    using Outcome = std::expected<void, BuildFault>;
    if (auto put = node.put(job, "candidate.cu", source); !put)
        return std::unexpected(put.error());
    if (auto put = headers_.put(node, job); !put)
        return std::unexpected(put.error());
    Command command;
    command.argv = compilerCommand();
    // What ptxas says about registers, spills and shared memory belongs into the log.
    command.argv.insert(command.argv.end(), {"-Xptxas", "-v", "-shared", "candidate.cu", "-o", object});
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    const auto with = libraries();
    command.argv.insert(command.argv.end(), with.begin(), with.end());
    command.working_directory = job.path();
    command.environment = {{"LC_ALL", "C"}, {"TMPDIR", job.path().string()}};
    command.limits.wall = compile_timeout_;
    command.limits.file_bytes = 1u << 30;
    command.limits.folder_bytes = 2u << 30;
    command.limits.memory_bytes = 16ull << 30;
    command.limits.processes = 256;
    command.sandbox =
        node.sandbox(job, false, {workloads_, toolkit_.home, nccl_.header.parent_path(), nccl_.library.parent_path()});
    const auto outcome = node.run(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->cancelled)
        return failure("The compilation was stopped.");
    if (outcome->succeeded())
        return Outcome();
    auto fault = readCompilerLog(outcome->err + outcome->out, "candidate.cu", {{job.path(), ""}, {workloads_, ""}});
    if (outcome->timed_out) {
        fault.timed_out = true;
        fault.first_error = fmt::format("The compiler was stopped after {} s.", compile_timeout_.count());
    } else if (outcome->exceeded != CommandLimit::none) {
        fault.first_error = "The compiler was stopped: " + describeExceeded(outcome->exceeded, command.limits);
    }
    return Outcome(std::unexpect, std::move(fault));
}

/// The supervisor stays outside; what follows "--" is put before the command of its ranks.
Command CudaToolchain::harnessCommand(const Node& node, const JobFolder& job, const std::string& mode) const
{
    Command command;
    command.argv = {harness_.string(), mode, "job.txt"};
    if (const auto sandbox = node.sandbox(job, true, {toolkit_.home, nccl_.library.parent_path()}); !sandbox.empty()) {
        command.argv.emplace_back("--");
        command.argv.insert(command.argv.end(), sandbox.begin(), sandbox.end());
    }
    command.working_directory = job.path();
    command.report_channel = true;
    command.environment = gpuVariables();
    if (node.span())
        command.environment.merge(launcherVariables());
    command.limits.folder_bytes = 1ull << 30;
    // No limit on the address space: CUDA reserves all of the GPUs' memory in it. Each program has a few dozen threads
    // a rank.
    command.limits.memory_bytes = hostMemoryBytes() / 2;
    command.limits.processes = 16'384;
    command.limits.wall = run_timeout_;
    return command;
}

HarnessFiles CudaToolchain::files() const
{
    HarnessFiles files;
    files.reference = reference_;
    return files;
}

}  // namespace cuco
