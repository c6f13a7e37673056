// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/design/directive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace cuco {

namespace {

using nlohmann::json;
using Conditions = std::vector<std::pair<std::string, std::vector<std::string>>>;

constexpr std::array<std::string_view, 4> dimensions{"backend", "placement", "sync", "issuer"};
constexpr std::uint64_t max_file_bytes = 1 << 20;

const std::string& valueOf(const Directive& directive, std::string_view dimension)
{
    return dimension == "backend"     ? directive.backend
           : dimension == "placement" ? directive.placement
           : dimension == "sync"      ? directive.sync
                                      : directive.issuer;
}

bool contains(const std::vector<std::string>& values, const std::string& value)
{
    return std::ranges::find(values, value) != values.end();
}

bool holds(const Conditions& conditions, const Directive& directive)
{
    return std::ranges::all_of(conditions, [&](const auto& condition) {
        return contains(condition.second, valueOf(directive, condition.first));
    });
}

Result<std::vector<std::string>> readValues(JsonReader& reader, std::string_view dimension, const std::string& where)
{
    std::vector<std::string> values;
    const json* list = reader.array(dimension);
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        std::string value, summary;
        JsonReader item((*list)[i], where, fmt::format("{}[{}]", reader.path(dimension), i));
        item.required("value", value).required("summary", summary);
        if (contains(values, value)) {
            item.fault("value", "is there twice");
        }
        if (auto done = item.finishKnowingAll(); !done) {
            return std::unexpected(std::move(done.error()));
        }
        values.push_back(std::move(value));
    }
    if (list && values.empty()) {
        reader.fault(dimension, "must have at least one value");
    }
    return values;
}

}  // namespace

Result<DesignSpace> DesignSpace::load(const std::filesystem::path& design_space_json)
{
    const std::string where = design_space_json.string();
    const auto text = readFile(design_space_json, max_file_bytes);
    if (!text) {
        return std::unexpected(text.error());
    }
    const auto document = parseJson(*text, where);
    if (!document) {
        return std::unexpected(document.error());
    }
    DesignSpace space;
    const std::array<std::vector<std::string>*, 4> lists{&space.backends_, &space.placements_, &space.syncs_,
                                                         &space.issuers_};
    int format = 0;
    JsonReader reader(*document, where);
    reader.required("format", format);
    if (format != 1) {
        reader.fault("format", "must be 1");
    }
    const json* dimension_lists = reader.object("dimensions");
    const json* rules = reader.array("rules");
    if (auto done = reader.finishKnowingAll(); !done) {
        return std::unexpected(std::move(done.error()));
    }
    JsonReader dimension_reader(*dimension_lists, where, "dimensions");
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        auto values = readValues(dimension_reader, dimensions[i], where);
        if (!values) {
            return std::unexpected(std::move(values.error()));
        }
        *lists[i] = std::move(*values);
    }
    if (auto done = dimension_reader.finishKnowingAll(); !done) {
        return std::unexpected(std::move(done.error()));
    }
    for (std::size_t i = 0; i < rules->size(); ++i) {
        Rule rule;
        JsonReader rule_reader((*rules)[i], where, fmt::format("rules[{}]", i));
        const auto read_conditions = [&](std::string_view name) {
            Conditions conditions;
            const json empty = json::object();
            const json* object = rule_reader.present(name) ? rule_reader.object(name) : &empty;
            JsonReader fields(object ? *object : empty, where, rule_reader.path(name));
            for (std::size_t d = 0; d < dimensions.size(); ++d) {
                std::vector<std::string> values;
                fields.optional(dimensions[d], values);
                for (const std::string& value : values) {
                    if (!contains(*lists[d], value)) {
                        fields.fault(dimensions[d], fmt::format("has \"{}\", which is not a value of it", value));
                    }
                }
                if (!values.empty()) {
                    conditions.emplace_back(dimensions[d], std::move(values));
                }
            }
            if (auto done = fields.finishKnowingAll(); !done) {
                rule_reader.fault(name, "is not understood: " + done.error().what);
            }
            return conditions;
        };
        rule.when = read_conditions("when");
        rule.require = read_conditions("require");
        rule_reader.optional("capability", rule.capability).required("reason", rule.reason);
        if (rule.when.empty()) {
            rule_reader.fault("when", "must name a dimension");
        }
        if (rule.require.empty() == rule.capability.empty()) {
            rule_reader.fault("require", "or \"capability\" must be there, and not both");
        }
        if (auto done = rule_reader.finishKnowingAll(); !done) {
            return std::unexpected(std::move(done.error()));
        }
        space.rules_.push_back(std::move(rule));
    }
    return space;
}

std::string DesignSpace::violation(const Directive& directive, const std::set<std::string>& capabilities) const
{
    const std::array<const std::vector<std::string>*, 4> lists{&backends_, &placements_, &syncs_, &issuers_};
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const std::string& value = valueOf(directive, dimensions[i]);
        if (!contains(*lists[i], value)) {
            return fmt::format("{}={} is not in the design space; there are {}.", dimensions[i], value,
                               fmt::join(*lists[i], ", "));
        }
    }
    for (const Rule& rule : rules_) {
        if (holds(rule.when, directive) && (!holds(rule.require, directive) ||
                                            (!rule.capability.empty() && !capabilities.contains(rule.capability)))) {
            return rule.reason;
        }
    }
    return {};
}

}  // namespace cuco
