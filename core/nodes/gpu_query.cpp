// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/gpu_query.h"

#include "core/base/environment.h"
#include "core/base/subprocess.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace cuco {

namespace {

/// The first ones every driver knows; of the rest, each may be missing. Only the name may have a comma in it.
const std::vector<std::string> needed_fields{"index", "name", "memory.total", "driver_version", "uuid"};
const std::vector<std::string> further_fields{
    "compute_cap",           "compute_mode",          "mig.mode.current", "gpu_recovery_action",
    "retired_pages.pending", "remapped_rows.pending", "utilization.gpu",  "ecc.errors.uncorrected.volatile.total"};

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> linesOf(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::vector<std::string_view> cells(std::string_view line)
{
    std::vector<std::string_view> parts;
    for (;;) {
        const auto comma = line.find(',');
        parts.push_back(trimmed(line.substr(0, comma)));
        if (comma == line.npos)
            return parts;
        line.remove_prefix(comma + 1);
    }
}

template <class Number>
std::optional<Number> number(std::string_view text)
{
    Number value{};
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// "[N/A]" and "[Not Supported]" say that there is nothing to say.
bool saysNothing(std::string_view cell)
{
    return cell.empty() || cell == "N/A" || cell.starts_with("[N/A") || cell.starts_with("[Not ");
}

bool saysError(std::string_view cell)
{
    return cell.find("ERR!") != cell.npos || cell.find("Unknown Error") != cell.npos ||
           cell.find("GPU is lost") != cell.npos || cell.find("requires reset") != cell.npos;
}

void setField(GpuState& gpu, const std::string& field, std::string_view cell)
{
    if (saysError(cell)) {
        gpu.error = cell;
        return;
    }
    if (saysNothing(cell))
        return;
    if (field == "uuid")
        gpu.info.uuid = cell;
    else if (field == "driver_version")
        gpu.info.driver = cell;
    else if (field == "compute_cap")
        gpu.compute_capability = cell;
    else if (field == "compute_mode")
        gpu.compute_mode = cell;
    else if (field == "mig.mode.current")
        gpu.mig_mode = cell;
    else if (field == "gpu_recovery_action")
        gpu.recovery_action = cell;
    else if (field.ends_with(".pending") && gpu.pending_repair != "Yes")
        gpu.pending_repair = cell;
    else if (field.starts_with("ecc."))
        gpu.uncorrected_errors = cell;
}

std::optional<GpuState> parseGpu(const std::vector<std::string>& fields, std::string_view line)
{
    auto parts = cells(line);
    if (parts.size() < fields.size())
        return std::nullopt;
    GpuState gpu;
    const auto name = std::ranges::find(fields, "name");
    if (name != fields.end()) {
        const auto at = name - fields.begin();
        const auto surplus = static_cast<std::ptrdiff_t>(parts.size() - fields.size());
        const char* begin = parts[static_cast<std::size_t>(at)].data();
        const auto& last = parts[static_cast<std::size_t>(at + surplus)];
        gpu.info.name = std::string(begin, last.data() + last.size());
        parts.erase(parts.begin() + at, parts.begin() + at + surplus);
    }
    if (parts.size() != fields.size())
        return std::nullopt;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i] == "index") {
            const auto index = number<int>(parts[i]);
            if (!index || *index < 0)
                return std::nullopt;
            gpu.info.index = *index;
        } else if (fields[i] == "memory.total") {
            const auto mebibytes = number<std::uint64_t>(parts[i]);
            if (mebibytes && *mebibytes <= (1u << 30))
                gpu.info.memory_bytes = *mebibytes << 20;
            else if (saysError(parts[i]))
                gpu.error = parts[i];
            else
                return std::nullopt;
        } else if (fields[i] != "name") {
            setField(gpu, fields[i], parts[i]);
        }
    }
    return gpu;
}

/// Without the escapes that underline its headings.
std::string plain(std::string_view text)
{
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\x1b') {
            kept += text[i];
            continue;
        }
        i = std::min(text.find('m', i), text.size() - 1);
    }
    return kept;
}

/// "GPU12" as 12.
std::optional<int> gpuIndex(std::string_view word)
{
    if (!word.starts_with("GPU"))
        return std::nullopt;
    return number<int>(word.substr(3));
}

class NvidiaSmi {
public:
    NvidiaSmi(std::filesystem::path program, std::stop_token stop, std::chrono::milliseconds patience)
        : program_(std::move(program)), stop_(stop), patience_(patience)
    {
    }

    /// Nothing when it did not answer in time or not at all; problem() then says why.
    std::optional<CommandOutcome> ask(std::vector<std::string> arguments)
    {
        if (problem_ || stop_.stop_requested())
            return std::nullopt;
        Command command;
        command.argv = {program_.string()};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = "/";
        command.environment = scrubbedEnvironment();
        command.environment["LC_ALL"] = "C";
        command.limits.wall = patience_;
        auto outcome = runCommand(command, stop_);
        if (!outcome) {
            problem_ = outcome.error();
            return std::nullopt;
        }
        if (outcome->timed_out) {
            problem_ = Error{fmt::format("nvidia-smi does not answer within {} s.",
                                         std::chrono::duration<double>(patience_).count()),
                             program_.string(),
                             "A GPU or its driver hangs: look for \"NVRM: Xid\" in the output of sudo dmesg, reset the "
                             "GPU (sudo nvidia-smi --gpu-reset -i N) or restart the machine."};
            return std::nullopt;
        }
        return std::move(*outcome);
    }
    const std::optional<Error>& problem() const { return problem_; }

private:
    std::filesystem::path program_;
    std::stop_token stop_;
    std::chrono::milliseconds patience_;
    std::optional<Error> problem_;
};

std::optional<CommandOutcome> query(NvidiaSmi& smi, const std::vector<std::string>& fields)
{
    return smi.ask({fmt::format("--query-gpu={}", fmt::join(fields, ",")), "--format=csv,noheader,nounits"});
}

/// Leaves out the fields that this driver does not know.
std::vector<std::string> knownFields(NvidiaSmi& smi)
{
    std::vector<std::string> fields = needed_fields;
    fields.insert(fields.end(), further_fields.begin(), further_fields.end());
    for (std::size_t attempt = 0; attempt < further_fields.size(); ++attempt) {
        const auto outcome = query(smi, fields);
        // Field "gpu_recovery_action" is not a valid field to query.
        const std::string said = outcome ? outcome->out + outcome->err : std::string();
        const auto unknown = std::ranges::find_if(fields, [&](const auto& field) {
            return said.find("\"" + field + "\" is not a valid field") != said.npos;
        });
        if (unknown == fields.end())
            break;
        fields.erase(unknown);
    }
    return fields;
}

}  // namespace

std::vector<GpuState> parseGpuStates(const std::vector<std::string>& fields, std::string_view csv)
{
    std::vector<GpuState> gpus;
    for (const auto line : linesOf(csv))
        if (auto gpu = parseGpu(fields, line))
            gpus.push_back(std::move(*gpu));
    return gpus;
}

std::vector<GpuNeighbour> parseNeighbours(std::string_view csv, const std::vector<GpuState>& gpus)
{
    std::vector<GpuNeighbour> neighbours;
    for (const auto line : linesOf(csv)) {
        const auto parts = cells(line);
        if (parts.size() < 4)
            continue;
        const auto gpu = std::ranges::find_if(gpus, [&](const auto& each) { return each.info.uuid == parts[0]; });
        const auto pid = number<int>(parts[1]);
        if (gpu == gpus.end() || !pid)
            continue;
        const auto name_end = parts[parts.size() - 2].data() + parts[parts.size() - 2].size();
        const auto mebibytes = number<std::uint64_t>(parts.back()).value_or(0);
        neighbours.push_back({gpu->info.index, *pid, std::string(parts[2].data(), name_end),
                              mebibytes <= (1u << 30) ? mebibytes << 20 : 0});
    }
    return neighbours;
}

std::vector<std::pair<int, int>> parseMissingPeers(std::string_view topology)
{
    std::vector<std::pair<int, int>> missing;
    const std::string text = plain(topology);
    std::vector<int> columns;
    for (const auto line : linesOf(text)) {
        std::istringstream stream{std::string(line)};
        std::vector<std::string> words;
        for (std::string word; stream >> word;)
            words.push_back(std::move(word));
        const auto row = words.empty() ? std::nullopt : gpuIndex(words[0]);
        if (!row)
            continue;
        if (columns.empty()) {
            for (const auto& word : words)
                if (const auto column = gpuIndex(word))
                    columns.push_back(*column);
            continue;
        }
        for (std::size_t i = 0; i < columns.size() && i + 1 < words.size(); ++i)
            if (*row < columns[i] && words[i + 1] != "OK")
                missing.emplace_back(*row, columns[i]);
    }
    return missing;
}

std::string parseDriverCuda(std::string_view table)
{
    constexpr std::string_view mark = "CUDA Version:";
    const auto at = table.find(mark);
    if (at == table.npos)
        return {};
    const auto rest = trimmed(table.substr(at + mark.size(), 16));
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

std::vector<GpuState> visibleGpus(std::vector<GpuState> gpus, const char* visible_devices)
{
    if (visible_devices == nullptr)
        return gpus;
    std::vector<GpuState> visible;
    for (const auto wanted : cells(visible_devices)) {
        const auto index = number<int>(wanted);
        const auto found = std::ranges::find_if(gpus, [&](const GpuState& gpu) {
            return index ? gpu.info.index == *index : wanted.starts_with("GPU-") && gpu.info.uuid.starts_with(wanted);
        });
        if (found == gpus.end())
            break;  // as CUDA does: what follows an entry it does not know is not visible
        visible.push_back(*found);
    }
    return visible;
}

GpuSurvey surveyGpus(const std::filesystem::path& nvidia_smi, std::stop_token stop, std::chrono::milliseconds patience)
{
    NvidiaSmi smi(nvidia_smi, stop, patience);
    GpuSurvey survey;
    const auto fields = knownFields(smi);
    if (const auto outcome = query(smi, fields)) {
        const char* const chosen = std::getenv("CUDA_VISIBLE_DEVICES");
        const auto all = parseGpuStates(fields, outcome->out);
        survey.gpus = visibleGpus(all, chosen);
        const std::string said = outcome->out + outcome->err;
        const std::string_view first_line = trimmed(std::string_view(said).substr(0, said.find('\n')));
        if (said.find("Unable to determine the device handle") != said.npos)
            survey.problems.push_back({"A GPU does not answer the driver.", std::string(first_line),
                                       "Restart the machine; when it happens again, the GPU or its slot is broken."});
        else if (all.empty())
            survey.problems.push_back({"The NVIDIA driver reports no GPU.",
                                       first_line.empty() ? "nvidia-smi" : std::string(first_line),
                                       "Check that the driver is loaded and that the GPU is visible to you, or use the "
                                       "emulated node."});
        else if (survey.gpus.empty())
            survey.problems.push_back({"CUDA_VISIBLE_DEVICES leaves no GPU.",
                                       fmt::format("\"{}\"; the driver has {}", chosen, all.size()),
                                       "Let it name GPUs of nvidia-smi -L, by number or by UUID, or unset it."});
    }
    if (const auto outcome = smi.ask({}); outcome && !survey.gpus.empty())
        survey.driver_cuda = parseDriverCuda(outcome->out);
    if (const auto outcome = survey.gpus.size() < 2 ? std::nullopt : smi.ask({"topo", "-p2p", "r"})) {
        survey.missing_peers = parseMissingPeers(outcome->out);
        const auto isVisible = [&](int index) {
            return std::ranges::any_of(survey.gpus, [&](const auto& gpu) { return gpu.info.index == index; });
        };
        std::erase_if(survey.missing_peers,
                      [&](const auto& pair) { return !isVisible(pair.first) || !isVisible(pair.second); });
    }
    if (const auto outcome = survey.gpus.empty()
                                 ? std::nullopt
                                 : smi.ask({"--query-compute-apps=gpu_uuid,pid,process_name,used_memory",
                                            "--format=csv,noheader,nounits"}))
        survey.neighbours = parseNeighbours(outcome->out, survey.gpus);
    if (smi.problem())
        survey.problems.push_back(*smi.problem());
    return survey;
}

std::map<std::string, std::string> gpuVariables()
{
    return variablesWhere(
        [](std::string_view name) { return name.starts_with("NCCL_") || name == "CUDA_VISIBLE_DEVICES"; });
}

}  // namespace cuco
