// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/emulator_toolchain.h"

#include "core/base/files.h"
#include "core/nodes/build_cache.h"
#include "core/nodes/compiler_log.h"
#include "core/nodes/device_model.h"
#include "core/source/emulation_rewriter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace cuco {

namespace {

constexpr std::uint64_t max_memory_bytes = 4ull << 30;
constexpr const char* reinstall = "Install the product again, or set CUCO_DATA_DIR to its data.";

Result<std::vector<std::string>> readEntries(const std::filesystem::path& file)
{
    const auto text = readFile(file);
    if (!text)
        return std::unexpected(text.error());
    std::vector<std::string> entries;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line.front() != '#')
            entries.push_back(line);
    return entries;
}

/// What the candidate's memory accesses are watched with; a reference needs none of it.
bool isObservation(const std::string& flag)
{
    return flag.starts_with("-fsanitize") || flag.starts_with("--param");
}

/// A product's own CUDA source as C++.
Result<std::string> rewriteOwn(const std::filesystem::path& cuda_file, const std::string& text)
{
    auto rewritten = rewriteForEmulation(text, cuda_file.filename().string());
    if (!rewritten)
        return failure(rewritten.error().message, fmt::format("{}:{}", cuda_file.string(), rewritten.error().line),
                       reinstall);
    return std::move(*rewritten);
}

Result<void> writeRewritten(const std::filesystem::path& cuda_file, const std::filesystem::path& cpp_file)
{
    const auto text = readFile(cuda_file);
    if (!text)
        return std::unexpected(text.error());
    const auto rewritten = rewriteOwn(cuda_file, *text);
    if (!rewritten)
        return std::unexpected(rewritten.error());
    return writeFileAtomically(cpp_file, *rewritten);
}

std::string including(const std::vector<std::filesystem::path>& sources)
{
    std::string text;
    for (const auto& source : sources)
        text += fmt::format("#include \"{}\"\n", source.string());
    return text;
}

}  // namespace

std::vector<std::string> EmulatorToolchain::compilerCommand(const std::vector<std::string>& flags) const
{
    std::vector<std::string> command{compiler_.program.string()};
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(),
                   {"-I", (workloads_ / "emulator" / "include").string(), "-I", (workloads_ / "harness").string()});
    return command;
}

Result<void> EmulatorToolchain::prepare(Node& node, const Workload& workload, std::stop_token stop)
{
    auto compiler = findHostCompiler(stop);
    if (!compiler)
        return std::unexpected(compiler.error());
    compiler_ = std::move(*compiler);
    auto flags = readEntries(workloads_ / "emulator" / "flags.txt");
    if (!flags)
        return std::unexpected(flags.error());
    candidate_flags_ = std::move(*flags);
    auto rates = readDeviceModel(workloads_ / "emulator" / "h200.model");
    if (!rates)
        return std::unexpected(rates.error());
    rates_ = std::move(*rates);
    compile_timeout_ = workload.compile_timeout;
    run_timeout_ = workload.run_timeout;
    auto headers = WorkloadHeaders::read(workload, rewriteOwn);
    if (!headers)
        return std::unexpected(headers.error());
    headers_ = std::move(*headers);
    if (auto harness = prepareHarness(node, stop); !harness)
        return harness;
    return prepareReference(node, workload, stop);
}

Result<void> EmulatorToolchain::prepareHarness(Node& node, std::stop_token stop)
{
    const auto emulator = workloads_ / "emulator", harness = workloads_ / "harness";
    BuildInputs inputs;
    inputs.add("compiler", compiler_.program.string() + " " + compiler_.version);
    for (const auto& folder : {emulator, harness})
        if (auto added = inputs.addFolder(folder); !added)
            return added;
    runtime_hash_ = inputs.key();

    const auto folder = cachedBuild("emulator", runtime_hash_, stop, [&](const auto& build_folder) -> Result<void> {
        const auto runtime = readEntries(emulator / "runtime_sources.txt");
        if (!runtime)
            return std::unexpected(runtime.error());
        // Few large units: most of a unit's time goes into the headers they share.
        std::vector<std::vector<std::filesystem::path>> units(3);
        for (std::size_t i = 0; i < runtime->size(); ++i)
            units[i % 2].push_back(emulator / (*runtime)[i]);
        const auto harness_sources = harnessSources(harness, "emulated");
        if (!harness_sources)
            return std::unexpected(harness_sources.error());
        for (const auto& path : *harness_sources) {
            if (path.extension() == ".cpp") {
                units[2].push_back(path);
                continue;
            }
            units[2].push_back(build_folder / (path.filename().string() + ".cpp"));
            if (auto written = writeRewritten(path, units[2].back()); !written)
                return written;
        }
        std::vector<std::vector<std::string>> compile;
        std::vector<std::string> link{compiler_.program.string()};
        for (std::size_t i = 0; i < units.size(); ++i) {
            const std::string unit = fmt::format("unit{}", i);
            if (auto written = writeFileAtomically(build_folder / (unit + ".cpp"), including(units[i])); !written)
                return written;
            auto command = compilerCommand({"-O2", "-std=c++20", "-w", "-DCUCO_EMULATED", "-c"});
            command.insert(command.end(), {"-I", emulator.string(), unit + ".cpp", "-o", unit + ".o"});
            compile.push_back(std::move(command));
            link.push_back(unit + ".o");
        }
        link.insert(link.end(),
                    {"-Wl,--dynamic-list=" + (emulator / "exports.txt").string(), "-ldl", "-pthread", "-o", "harness"});
        if (auto compiled = runBuild(node, build_folder, std::move(compile), stop); !compiled)
            return compiled;
        return runBuild(node, build_folder, {link}, stop);
    });
    if (!folder)
        return std::unexpected(folder.error());
    harness_ = *folder / "harness";
    return {};
}

Result<void> EmulatorToolchain::prepareReference(Node& node, const Workload& workload, std::stop_token stop)
{
    auto flags = candidate_flags_;
    std::erase_if(flags, isObservation);
    flags.emplace_back("-O2");
    auto object = buildObject(node, workload.reference_source, std::move(flags), stop);
    if (!object)
        return std::unexpected(object.error());
    reference_ = std::move(*object);
    return {};
}

Result<std::filesystem::path> EmulatorToolchain::buildOwn(Node& node, const std::filesystem::path& source,
                                                          std::stop_token stop)
{
    return buildObject(node, source, candidate_flags_, stop);
}

Result<std::filesystem::path> EmulatorToolchain::buildObject(Node& node, const std::filesystem::path& source,
                                                             std::vector<std::string> flags, std::stop_token stop)
{
    const auto text = readFile(source);
    if (!text)
        return std::unexpected(text.error());
    const std::string stem = source.stem().string();
    BuildInputs inputs;
    inputs.add("runtime", runtime_hash_);
    inputs.add("flags", fmt::format("{}", fmt::join(flags, " ")));
    inputs.add(stem, *text);
    headers_.addTo(inputs);
    const auto folder = cachedBuild("emulator", inputs.key(), stop, [&](const auto& build_folder) -> Result<void> {
        if (auto written = writeRewritten(source, build_folder / (stem + ".cpp")); !written)
            return written;
        if (auto written = headers_.write(build_folder); !written)
            return written;
        auto command = compilerCommand(flags);
        command.insert(command.end(), {stem + ".cpp", "-o", stem + ".so"});
        return runBuild(node, build_folder, {command}, stop);
    });
    if (!folder)
        return std::unexpected(folder.error());
    return *folder / (stem + ".so");
}

Result<std::expected<void, BuildFault>> EmulatorToolchain::build(Node& node, const JobFolder& job,
                                                                 const std::string& source, std::stop_token stop)
{
    using Outcome = std::expected<void, BuildFault>;
    if (const auto fault = findNotEmulable(source))
        return Outcome(std::unexpect, BuildFault{true, false, fault->line, fault->message, ""});
    const auto rewritten = rewriteForEmulation(source, "candidate.cu");
    if (!rewritten)
        return Outcome(std::unexpect, BuildFault{false, false, rewritten.error().line, rewritten.error().message, ""});
    if (auto put = node.put(job, "candidate.cpp", *rewritten); !put)
        return std::unexpected(put.error());
    if (auto put = headers_.put(node, job); !put)
        return std::unexpected(put.error());

    Command command;
    command.argv = compilerCommand(candidate_flags_);
    command.argv.insert(command.argv.end(), {"candidate.cpp", "-o", "candidate.so"});
    command.working_directory = job.path();
    command.environment = {{"LC_ALL", "C"}};
    command.limits.wall = compile_timeout_;
    command.limits.address_space_bytes = 8ull << 30;
    command.limits.file_bytes = 256u << 20;
    command.limits.folder_bytes = 1u << 30;
    command.limits.memory_bytes = 8ull << 30;
    command.limits.processes = 64;
    command.sandbox = node.sandbox(job, false, {workloads_, compiler_.installation()});
    const auto outcome = node.run(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->cancelled)
        return failure("The compilation was stopped.");
    if (outcome->succeeded())
        return Outcome();
    auto fault = readCompilerLog(outcome->err, "candidate.cu",
                                 {{job.path(), ""}, {workloads_ / "emulator" / "include", ""}, {workloads_, ""}});
    if (outcome->timed_out) {
        fault.timed_out = true;
        fault.first_error = fmt::format("The compiler was stopped after {} s.", compile_timeout_.count());
    } else if (outcome->exceeded != CommandLimit::none) {
        fault.first_error = "The compiler was stopped: " + describeExceeded(outcome->exceeded, command.limits);
    }
    return Outcome(std::unexpect, std::move(fault));
}

Command EmulatorToolchain::harnessCommand(const Node& node, const JobFolder& job, const std::string& mode) const
{
    Command command;
    command.argv = {harness_.string(), mode, "job.txt"};
    command.working_directory = job.path();
    command.report_channel = true;
    // The emulator reserves hundreds of GiB of addresses and uses few of them.
    command.limits.data_bytes = max_memory_bytes;
    command.limits.memory_bytes = max_memory_bytes;
    command.limits.folder_bytes = 8ull << 30;
    command.limits.open_files = 256;
    command.limits.processes = 4096;
    command.limits.wall = run_timeout_;
    command.sandbox = node.sandbox(job, false, {workloads_ / "emulator"});
    return command;
}

HarnessFiles EmulatorToolchain::files() const
{
    HarnessFiles files;
    files.reference = reference_;
    files.model = workloads_ / "emulator" / "h200.model";
    return files;
}

}  // namespace cuco
