// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace cuco {

namespace {

constexpr std::size_t most_lines = 40;

std::string at(const std::string& file, std::size_t line)
{
    return file.empty() ? fmt::format("{}", line) : fmt::format("{}:{}", file, line);
}

std::string joined(const std::vector<std::string>& names)
{
    return names.empty() ? "?" : fmt::format("{}", fmt::join(names, ","));
}

std::string given(std::string_view name, const std::string& value)
{
    return value.empty() ? "" : fmt::format(" {}={}", name, value);
}

/// A part of the text: nothing when it has no lines, and no more than fit.
void addPart(std::string& text, std::string_view head, const std::vector<std::string>& lines)
{
    if (lines.empty()) {
        return;
    }
    text += fmt::format("{} ({})\n", head, lines.size());
    for (std::size_t i = 0; i < lines.size() && i < most_lines; ++i) {
        text += "  " + lines[i] + "\n";
    }
    if (lines.size() > most_lines) {
        text += fmt::format("  and {} more\n", lines.size() - most_lines);
    }
}

std::string describe(const CommunicationCall& call)
{
    std::string text = fmt::format("{} {}", at(call.file, call.line), call.operation);
    if (call.family != CommunicationFamily::nccl && call.family != CommunicationFamily::mpi &&
        call.family != CommunicationFamily::pnccl) {
        text += fmt::format(" [{}]", toString(call.family));
    }
    if (!call.reads.empty() || !call.writes.empty()) {
        text += fmt::format(" {} -> {}", call.reads.empty() ? "" : joined(call.reads),
                            call.writes.empty() ? "" : joined(call.writes));
    }
    text += given("count", call.count) + given("type", call.type) + given("peer", call.peer) +
            given("stream", call.stream) + given("kernel", call.kernel) + given("issuer", call.issuer);
    for (const ReachedThrough& hop : call.through) {
        text += fmt::format(" via {} {}@{}", hop.how, hop.name, hop.line);
    }
    text += call.in_group ? " grouped" : "";
    text += call.in_loop ? " in-loop" : "";
    return text + (call.resolved ? "" : " (unknown operation)");
}

std::string describe(const Buffer& buffer)
{
    std::string text = fmt::format("{} {}", buffer.name, buffer.allocation);
    if (buffer.line > 0) {
        text += fmt::format(" {} {}", at(buffer.file, buffer.line), buffer.call);
    }
    text += given("size", buffer.size);
    if (!buffer.windows.empty()) {
        text += fmt::format(" window={}", joined(buffer.windows));
    }
    if (!buffer.freed_lines.empty()) {
        text += fmt::format(" freed={}", fmt::join(buffer.freed_lines, ","));
    }
    return text;
}

std::string describe(const KernelLaunch& launch)
{
    std::string text = fmt::format("{} {}<<<{}, {}>>>", at(launch.file, launch.line), launch.kernel,
                                   launch.grid.empty() ? "?" : launch.grid, launch.block.empty() ? "?" : launch.block);
    text += given("shared", launch.shared == "0" ? "" : launch.shared) + given("stream", launch.stream);
    text += launch.reads.empty() ? "" : " reads=" + joined(launch.reads);
    text += launch.writes.empty() ? "" : " writes=" + joined(launch.writes);
    text += launch.cooperative ? " cooperative" : "";
    text += launch.communicates ? " communicates" : "";
    text += launch.computes ? " computes" : "";
    return text + (launch.in_loop ? " in-loop" : "");
}

std::string describe(const Event& event)
{
    std::vector<std::string> uses;
    for (const EventUse& use : event.records) {
        uses.push_back(fmt::format("record {}@{}", use.stream, use.line));
    }
    for (const EventUse& use : event.waits) {
        uses.push_back(fmt::format("wait {}@{}", use.stream, use.line));
    }
    return fmt::format("{} {}", event.name, fmt::join(uses, ", "));
}

}  // namespace

std::string toText(const CudaAnalysis& analysis)
{
    std::string text = fmt::format("{}: {} lines{}{}\n", analysis.source, analysis.lines,
                                   analysis.uses_device_communication ? ", communicates from the device" : "",
                                   analysis.truncated ? ", more than is listed" : "");
    const auto all = [](const auto& list) {
        std::vector<std::string> lines;
        for (const auto& item : list) {
            lines.push_back(describe(item));
        }
        return lines;
    };
    addPart(text, "communication", all(analysis.communication));
    addPart(text, "launches", all(analysis.launches));
    addPart(text, "buffers", all(analysis.buffers));
    std::vector<std::string> lines;
    for (const Stream& stream : analysis.streams) {
        lines.push_back(stream.name + (stream.created_line > 0 ? fmt::format(" created {}{}{}", stream.created_line,
                                                                             given("flags", stream.flags),
                                                                             given("priority", stream.priority))
                                                               : " given"));
    }
    addPart(text, "streams", lines);
    addPart(text, "events", all(analysis.events));
    lines.clear();
    for (const Synchronisation& point : analysis.synchronisations) {
        lines.push_back(fmt::format("{} {}{}{}{}{}", at(point.file, point.line), point.operation,
                                    given("scope", point.scope), given("of", point.object),
                                    given("by", point.cooperation), given("kernel", point.kernel)));
    }
    addPart(text, "synchronisation", lines);
    // One line for each pair of operations.
    std::map<std::pair<int, int>, std::pair<std::string, std::vector<std::string>>> pairs;
    const auto named = [&](int id) {
        const Operation& operation = analysis.operations[static_cast<std::size_t>(id)];
        return fmt::format("{}@{}", operation.label, at(operation.file, operation.line));
    };
    for (const Dependency& dependency : analysis.dependencies) {
        if (dependency.kind == "flow" || dependency.order == "none") {
            auto& [order, buffers] = pairs[{dependency.from, dependency.to}];
            order = dependency.order == "none" || order.empty() ? dependency.order : order;
            buffers.push_back(dependency.buffer + (dependency.kind == "flow" ? "" : " (" + dependency.kind + ")"));
        }
    }
    lines.clear();
    for (const auto& [pair, edge] : pairs) {
        lines.push_back(fmt::format("{} -> {}: {}; {}{}", named(pair.first), named(pair.second), joined(edge.second),
                                    edge.first == "none" ? "no stream or event orders them" : edge.first,
                                    pair.first >= pair.second ? "; next turn" : ""));
    }
    addPart(text, "producer -> consumer", lines);
    lines.clear();
    for (const Unresolved& unresolved : analysis.unresolved) {
        lines.push_back(
            fmt::format("{} {}: {}", at(unresolved.file, unresolved.line), unresolved.kind, unresolved.message));
    }
    addPart(text, "not resolved", lines);
    return text;
}

}  // namespace cuco
