// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco::analysis {

void addName(std::vector<std::string>& names, const std::string& name)
{
    if (!name.empty() && std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
    }
}

std::vector<std::string> Walk::namesOf(const Value& value) const
{
    std::vector<std::string> names;
    for (const Root& root : value.roots) {
        if (root.function < 0) {
            addName(names, root.name);
        }
    }
    return names;
}

std::string Walk::nameOf(const Value& value, int node) const
{
    return value.roots.empty() || value.roots.front().name.empty() ? program_.text(node) : value.roots.front().name;
}

std::string Walk::streamOf(int node)
{
    const std::string text = program_.text(node);
    if (text == "0" || text == "nullptr" || text == "NULL") {
        return "default";
    }
    const Value value = evaluate(node);
    if (value.roots.empty()) {
        // A null, or a parameter that the caller left to its default.
        const Node& here = program_.at(node);
        const bool parameter =
            here.declaration >= 0 && program_.declared(here.declaration).kind == DeclarationKind::parameter;
        return parameter || value.text == "nullptr" || value.text == "0" ? "default" : text;
    }
    return nameOf(value, node);
}

std::string Walk::chainKey(const Node& node) const
{
    std::string key = fmt::format("{}:{}:{}:{}", entry_, node.file, node.begin, node.line);
    for (const ReachedThrough& hop : chain_) {
        key += fmt::format("|{}:{}", hop.name, hop.line);
    }
    return key;
}

void Walk::noteBuffer(const std::string& name)
{
    const std::string allocation = name.starts_with("inputs")           ? "input"
                                   : name.starts_with("outputs")        ? "output"
                                   : name.starts_with("symmetric_base") ? "symmetric"
                                                                        : "";
    if (!allocation.empty() && std::ranges::find(analysis_.buffers, name, &Buffer::name) == analysis_.buffers.end()) {
        Buffer buffer;
        buffer.name = name;
        buffer.allocation = allocation;
        analysis_.buffers.push_back(std::move(buffer));
    }
}

Stream& Walk::noteStream(const std::string& name)
{
    const auto known = std::ranges::find(analysis_.streams, name, &Stream::name);
    if (known != analysis_.streams.end()) {
        return *known;
    }
    analysis_.streams.push_back({name, "", "", 0});
    return analysis_.streams.back();
}

Event& Walk::noteEvent(const std::string& name)
{
    const auto known = std::ranges::find(analysis_.events, name, &Event::name);
    if (known != analysis_.events.end()) {
        return *known;
    }
    analysis_.events.push_back({name, 0, {}, {}});
    return analysis_.events.back();
}

}  // namespace cuco::analysis
