// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/race_report.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cuco {

namespace {

constexpr std::size_t most_text_bytes = 256;
constexpr std::int64_t most_lines = 1 << 24;

std::string triple(const std::array<int, 3>& v)
{
    return fmt::format("({}, {}, {})", v[0], v[1], v[2]);
}

std::string inMemory(const RaceReport& race)
{
    return race.memory_rank < 0 ? race.memory : fmt::format("{} of rank {}", race.memory, race.memory_rank);
}

std::string briefly(const RaceAccess& access)
{
    const std::string place = access.line > 0 ? fmt::format("at line {}", access.line) : "by " + access.where;
    return fmt::format("the {} {} on rank {}", access.access, place, access.rank);
}

nlohmann::json toJson(const RaceAccess& access)
{
    nlohmann::json json = {
        {"rank", access.rank}, {"access", access.access}, {"where", access.where}, {"line", access.line}};
    if (access.block)
        json["block"] = *access.block;
    if (access.thread)
        json["thread"] = *access.thread;
    return json;
}

std::optional<std::array<int, 3>> tripleFrom(const std::vector<int>& list)
{
    if (list.size() != 3)
        return std::nullopt;
    return std::array{list[0], list[1], list[2]};
}

std::string cut(std::string text)
{
    text.resize(std::min(text.size(), most_text_bytes));
    return text;
}

Result<RaceAccess> accessFromJson(const nlohmann::json& json, const std::string& where, const char* name)
{
    RaceAccess access;
    std::int64_t line = 0;
    std::vector<int> block, thread;
    JsonReader reader(json, where, name);
    reader.required("rank", access.rank).required("access", access.access).required("where", access.where);
    reader.required("line", line).optional("block", block).optional("thread", thread);
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    access.access = cut(std::move(access.access));
    access.where = cut(std::move(access.where));
    access.line = line > 0 && line < most_lines ? static_cast<std::size_t>(line) : 0;
    access.block = tripleFrom(block);
    access.thread = tripleFrom(thread);
    return access;
}

}  // namespace

std::string describe(const RaceAccess& access)
{
    std::string text = fmt::format("{} by rank {}", access.access, access.rank);
    if (access.line > 0)
        text += fmt::format(" at line {}", access.line);
    text += ", " + access.where;
    if (access.block)
        text += ", block " + triple(*access.block);
    if (access.thread)
        text += ", thread " + triple(*access.thread);
    return text;
}

std::string describe(const RaceReport& race)
{
    return fmt::format("Nothing orders {} and {}: both use byte {} of {} (shape {}).", briefly(race.first),
                       briefly(race.second), race.byte, inMemory(race), race.shape);
}

nlohmann::json toJson(const RaceReport& race)
{
    nlohmann::json json = {{"shape", race.shape},
                           {"memory", race.memory},
                           {"byte", race.byte},
                           {"first", toJson(race.first)},
                           {"second", toJson(race.second)}};
    if (race.memory_rank >= 0)
        json["memory_rank"] = race.memory_rank;
    return json;
}

Result<RaceReport> raceReportFromJson(const nlohmann::json& json, const std::string& where)
{
    RaceReport race;
    JsonReader reader(json, where, "race");
    reader.required("shape", race.shape).required("memory", race.memory);
    reader.optional("memory_rank", race.memory_rank).optional("byte", race.byte);
    const auto* first = reader.object("first");
    const auto* second = reader.object("second");
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    race.shape = cut(std::move(race.shape));
    race.memory = cut(std::move(race.memory));
    auto first_access = accessFromJson(*first, where, "race.first");
    if (!first_access)
        return std::unexpected(first_access.error());
    auto second_access = accessFromJson(*second, where, "race.second");
    if (!second_access)
        return std::unexpected(second_access.error());
    race.first = std::move(*first_access);
    race.second = std::move(*second_access);
    return race;
}

}  // namespace cuco
