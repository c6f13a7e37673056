// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/harness_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace cuco {

namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 40;

Result<void> checkWord(const std::string& word, const char* what)
{
    if (word.empty() || std::ranges::any_of(word, [](unsigned char c) { return std::isspace(c) || std::iscntrl(c); }))
        return failure(fmt::format("The {} \"{}\" is empty or has white space.", what, word), "",
                       "Use letters, digits, '-', '_' and '.'.");
    return {};
}

/// A path may hold blanks but not what ends a line.
Result<void> checkPath(const std::filesystem::path& path)
{
    if (path.string().find_first_of("\r\n") != std::string::npos)
        return failure("A path has a line break.", path.string(), "Move the data to another folder.");
    return {};
}

Result<std::vector<std::int64_t>> elementsOnRanks(const BufferSpec& buffer, const Shape& shape, int ranks)
{
    std::vector<std::int64_t> elements;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto count = buffer.elements.evaluate(valuesOnRank(shape.parameters, ranks, rank));
        if (!count)
            return std::unexpected(count.error());
        if (*count < 0 || *count > max_elements)
            return failure(fmt::format("Buffer {} would have {} elements on rank {}.", buffer.name, *count, rank),
                           shape.name, "Correct its \"elements\" or the shape in workload.json.");
        elements.push_back(*count);
    }
    return elements;
}

/// Over all ranks, so that a rank without work does not decide.
Result<double> total(const SizeExpression& expression, const SizeValues& parameters, int ranks)
{
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto value = expression.evaluate(valuesOnRank(parameters, ranks, rank));
        if (!value)
            return std::unexpected(value.error());
        sum += static_cast<double>(*value);
    }
    return sum;
}

Result<double> scaleFactor(const SizeExpression& expression, const Shape& shape, int ranks)
{
    if (!shape.represents)
        return 1.0;
    const auto represented = total(expression, *shape.represents, ranks);
    const auto emulated = total(expression, shape.parameters, ranks);
    if (!represented)
        return represented;
    if (!emulated)
        return emulated;
    return *emulated > 0 && *represented > 0 ? *represented / *emulated : 1.0;
}

Result<void> appendBuffers(std::string& text, const char* direction, const std::vector<BufferSpec>& buffers,
                           const Shape& shape, int ranks)
{
    for (const auto& buffer : buffers) {
        if (auto checked = checkWord(buffer.name, "buffer name"); !checked)
            return checked;
        const auto elements = elementsOnRanks(buffer, shape, ranks);
        if (!elements)
            return std::unexpected(elements.error());
        fmt::format_to(std::back_inserter(text), "buffer {} {} {} {}\n", direction, buffer.name, toString(buffer.type),
                       fmt::join(*elements, " "));
    }
    return {};
}

Result<void> appendShape(std::string& text, const Workload& workload, const JobShape& job, int ranks)
{
    const Shape& shape = job.shape;
    if (auto checked = checkWord(shape.name, "shape name"); !checked)
        return checked;
    text += "shape " + shape.name;
    for (const auto& parameter : workload.parameters) {
        const auto value = shape.parameters.find(parameter);
        if (value == shape.parameters.end())
            return failure(fmt::format("Shape {} has no parameter \"{}\".", shape.name, parameter),
                           (workload.folder / "workload.json").string(), "Add it to the shape.");
        text += ' ' + std::to_string(value->second);
    }
    const auto flops = scaleFactor(workload.roofline.flops, shape, ranks);
    const auto link_bytes = scaleFactor(workload.roofline.link_bytes, shape, ranks);
    if (!flops)
        return std::unexpected(flops.error());
    if (!link_bytes)
        return std::unexpected(link_bytes.error());
    fmt::format_to(std::back_inserter(text), "\nseed {}\nscale {} {}\n", job.seed, *flops, *link_bytes);
    if (auto inputs = appendBuffers(text, "in", workload.inputs, shape, ranks); !inputs)
        return inputs;
    if (auto outputs = appendBuffers(text, "out", workload.outputs, shape, ranks); !outputs)
        return outputs;
    fmt::format_to(std::back_inserter(text), "iterations {}\nwarmup {}\ndump {:d}\ntime {:d}\ntrace {:d}\n",
                   job.iterations, job.warmup, job.dump, job.time, job.trace);
    if (job.skew != 0)
        fmt::format_to(std::back_inserter(text), "skew {}\n", job.skew);
    if (job.consecutive != 0)
        fmt::format_to(std::back_inserter(text), "consecutive {}\n", job.consecutive);
    if (job.rounds != 0)
        fmt::format_to(std::back_inserter(text), "rounds {}{}\n", job.rounds,
                       job.least_rounds < job.rounds ? fmt::format(" {}", job.least_rounds) : "");
    if (!job.against.empty())
        fmt::format_to(std::back_inserter(text), "against {}\n", fmt::join(job.against, " "));
    return {};
}

}  // namespace

SizeValues valuesOnRank(const SizeValues& parameters, int ranks, int rank)
{
    SizeValues values = parameters;
    values["ranks"] = ranks;
    values["rank"] = rank;
    return values;
}

Result<std::string> writeHarnessJob(const Workload& workload, const HarnessJob& job)
{
    for (const auto& path : {job.files.candidate, job.files.reference, job.files.model, job.traced.program})
        if (auto checked = checkPath(path); !checked)
            return std::unexpected(checked.error());
    std::string text = fmt::format("cuco-job 1\ncandidate {}\nreference {}\n", job.files.candidate.string(),
                                   job.files.reference.string());
    if (!job.files.model.empty())
        text += "model " + job.files.model.string() + "\n";
    for (const auto& baseline : job.baselines) {
        auto checked = checkWord(baseline.name, "baseline name");
        if (checked)
            checked = checkPath(baseline.program);
        if (!checked)
            return std::unexpected(checked.error());
        fmt::format_to(std::back_inserter(text), "{} {} {}\n", baseline.checked ? "baseline" : "unchecked",
                       baseline.name, baseline.program.string());
    }
    if (!job.traced.program.empty()) {
        text += "traced " + job.traced.program.string() + "\n";
        for (const auto& [name, value] : job.traced.variables)
            text += "traced_variable " + name + " " + value + "\n";
    }
    if (job.rates)
        text += "rates 1\n";
    fmt::format_to(std::back_inserter(text), "ranks {}\nlimit {}\ntolerance {} {}\n", job.ranks, job.limit.count(),
                   workload.tolerance.relative_l2, workload.tolerance.max_error);
    if (job.race)
        text += "race 1\n";
    for (const auto& host : job.span.hosts) {
        if (auto checked = checkWord(host.name, "host's name"); !checked)
            return std::unexpected(checked.error());
        fmt::format_to(std::back_inserter(text), "host {} {}\n", host.ranks, host.name);
    }
    for (const auto& word : job.span.launch) {
        if (auto checked = checkWord(word, "word of the launching command"); !checked)
            return std::unexpected(checked.error());
        text += "launch " + word + "\n";
    }
    for (const auto& shape : job.shapes)
        if (auto appended = appendShape(text, workload, shape, job.ranks); !appended)
            return std::unexpected(appended.error());
    return text;
}

Result<std::uint64_t> largestDumpBytes(const Workload& workload, const HarnessJob& job)
{
    std::uint64_t largest = 0;
    for (const auto& shape : job.shapes)
        for (const auto& output : workload.outputs) {
            const auto elements = elementsOnRanks(output, shape.shape, job.ranks);
            if (!elements)
                return std::unexpected(elements.error());
            for (const auto count : *elements)
                largest = std::max(largest, static_cast<std::uint64_t>(count) * bytesOf(output.type));
        }
    return largest;
}

}  // namespace cuco
