// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/workload_facts.h"

#include "core/agents/prompt.h"
#include "core/base/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cuco {

namespace {

constexpr std::size_t most_header_bytes = 48u << 10;

std::string namesOf(const std::vector<Shape>& shapes)
{
    std::string text;
    for (const auto& shape : shapes) {
        text += text.empty() ? "" : "; ";
        text += shape.name + ":";
        for (const auto& [name, value] : shape.parameters)
            text += fmt::format(" {}={}", name, value);
    }
    return text;
}

std::string buffers(const char* kind, const std::vector<BufferSpec>& specs)
{
    std::string text;
    for (std::size_t i = 0; i < specs.size(); ++i)
        text += fmt::format("- `{}s[{}]` is `{}`, {}, {} elements\n", kind, i, specs[i].name, toString(specs[i].type),
                            specs[i].elements.text());
    return text;
}

}  // namespace

Result<std::string> workloadFacts(const Workload& workload)
{
    std::string text = "Parameters of a shape, in the order of `context.shape[]`: ";
    text += fmt::format("{}. Buffers of a rank:\n\n", fmt::join(workload.parameters, ", "));
    text += buffers("input", workload.inputs) + buffers("output", workload.outputs);
    text += fmt::format("\nIt runs with {} ranks. Checked at {}. Timed at {}.\n", fmt::join(workload.ranks, ", "),
                        namesOf(workload.verify_shapes), namesOf(workload.search_shapes));
    for (const auto& header : workload.headers) {
        const auto source = readFile(header, 4u << 20);
        if (!source)
            return std::unexpected(source.error());
        text += fmt::format("\nIt may include `{}`:\n\n{}\n", header.filename().string(),
                            fenced(*source, "cpp", most_header_bytes));
    }
    return text;
}

KernelSource emptyFrame(const KernelSource& source)
{
    const auto segments = source.frozenSegments();
    std::string text;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        text += segments[i];
        if (i < source.blocks().size())
            text += "// What is evolved stands here.\n";
    }
    auto frame = KernelSource::parse(std::move(text));
    return frame ? std::move(*frame) : source;
}

}  // namespace cuco
