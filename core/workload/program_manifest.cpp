// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/program_manifest.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace cuco {

namespace {

using nlohmann::json;

constexpr std::size_t max_arguments = 128, max_argument_bytes = 4096, max_variables = 64, max_pattern_bytes = 256;
constexpr std::size_t max_strategies = 256;
constexpr int max_ranks = 64, max_rounds = 20, max_timeout_s = 24 * 3600;
constexpr std::array<std::pair<std::string_view, double>, 4> units{{{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}}};

bool isPlainName(const std::string& text)
{
    return !text.empty() && text.size() <= 64 && text.front() != '.' && text.front() != '-' &&
           std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-' || c == '.';
           });
}

bool isVariable(const std::string& text)
{
    return !text.empty() && text.size() <= 128 && !(text.front() >= '0' && text.front() <= '9') &&
           std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
}

class ProgramReader {
public:
    ProgramReader(const json& document, const std::filesystem::path& folder, const std::string& where)
        : reader_(document, where), where_(where)
    {
        workload_.folder = folder;
    }

    Result<Workload> read()
    {
        int format = 0;
        std::string kind;
        reader_.required("format", format).required("kind", kind).required("name", workload_.name);
        reader_.required("title", workload_.title).required("summary", workload_.summary);
        reader_.required("ranks", workload_.ranks);
        if (reader_.finish() && format != 1)
            reader_.fault("format", "must be 1");
        if (!isPlainName(workload_.name))
            reader_.fault("name", R"(must be made of letters, digits, "_" and "-")");
        const std::set<int> counts(workload_.ranks.begin(), workload_.ranks.end());
        if (counts.empty() || *counts.begin() < 1 || *counts.rbegin() > max_ranks ||
            counts.size() != workload_.ranks.size())
            reader_.fault("ranks", fmt::format("must have different numbers from 1 to {}", max_ranks));
        readSources();
        readCommands();
        readResults();
        readTimeouts();
        note(reader_.finishKnowingAll());
        if (error_)
            return std::unexpected(*error_);
        workload_.program = std::move(program_);
        workload_.search_shapes.push_back({"program", {}, std::nullopt});
        return std::move(workload_);
    }

private:
    void note(const Result<void>& result)
    {
        if (!result && !error_)
            error_ = result.error();
    }

    std::filesystem::path file(JsonReader& reader, std::string_view field, const std::string& name)
    {
        std::error_code error;
        const auto path = workload_.folder / name;
        const auto root = std::filesystem::canonical(workload_.folder, error);
        const auto real = std::filesystem::weakly_canonical(path, error);
        const auto [end_of_root, rest] = std::ranges::mismatch(root, real);
        if (name.empty() || std::filesystem::path(name).is_absolute() || end_of_root != root.end())
            reader.fault(field, fmt::format("names \"{}\", which is outside the workload's folder", name));
        else if (!std::filesystem::is_regular_file(real, error))
            reader.fault(field, fmt::format("names the file \"{}\", which is not there", name));
        return path;
    }

    void readSources()
    {
        if (const json* object = reader_.object("sources")) {
            JsonReader sources(*object, where_, "sources");
            std::string host, seed;
            sources.required("host", host).required("seed", seed).required("name", program_.file_name);
            if (sources.finish()) {
                workload_.host_source = file(sources, "host", host);
                workload_.seed_source = file(sources, "seed", seed);
            }
            if (!isPlainName(program_.file_name))
                sources.fault("name", "must be a plain file name");
            note(sources.finishKnowingAll());
        }
        std::vector<std::string> files;
        reader_.optional("strategies", files);
        if (files.size() > max_strategies)
            reader_.fault("strategies", fmt::format("must have at most {} files", max_strategies));
        std::set<std::string> names;
        for (const auto& name : files) {
            Strategy strategy{std::filesystem::path(name).stem().string(), file(reader_, "strategies", name)};
            if (!names.insert(strategy.name).second)
                reader_.fault("strategies", fmt::format("has two strategies called \"{}\"", strategy.name));
            workload_.strategies.push_back(std::move(strategy));
        }
    }

    std::vector<std::string> command(std::string_view field, std::initializer_list<std::string_view> wanted)
    {
        std::vector<std::string> argv;
        reader_.required(field, argv);
        if (!reader_.finish())
            return argv;
        if (argv.empty() || argv.size() > max_arguments || argv.front().empty())
            reader_.fault(field, fmt::format("must have a program and at most {} arguments", max_arguments));
        for (const auto& argument : argv) {
            if (argument.size() > max_argument_bytes || argument.find('\0') != argument.npos)
                reader_.fault(field, fmt::format("has an argument of more than {} bytes, or with a zero byte",
                                                 max_argument_bytes));
            std::string rest = argument;
            for (const std::string_view known : {"{source}", "{binary}", "{ranks}"}) {
                for (auto at = rest.find(known); at != rest.npos; at = rest.find(known))
                    rest.replace(at, known.size(), " ");
            }
            if (const auto open = rest.find('{'); open != rest.npos && rest.find('}', open) != rest.npos)
                reader_.fault(field, fmt::format("has an unknown placeholder in \"{}\": known are {{source}}, "
                                                 "{{binary}} and {{ranks}}",
                                                 argument));
        }
        if (!argv.empty() && argv.front().find('{') != std::string::npos && field == "build")
            reader_.fault(field, "must begin with a compiler");
        for (const std::string_view place : wanted) {
            if (std::ranges::none_of(argv, [&](const auto& text) { return text.find(place) != text.npos; }))
                reader_.fault(field, fmt::format("must contain {}", place));
        }
        return argv;
    }

    void readCommands()
    {
        program_.build = command("build", {"{source}", "{binary}"});
        program_.run = command("run", {"{binary}", "{ranks}"});
        reader_.optional("gpus", program_.gpus).optional("rounds", program_.rounds);
        if (program_.rounds < 1 || program_.rounds > max_rounds)
            reader_.fault("rounds", fmt::format("must be from 1 to {}", max_rounds));
        reader_.optional("environment", program_.environment);
        const bool are_variables = std::ranges::all_of(program_.environment, [](const auto& entry) {
            return isVariable(entry.first) && entry.second.size() <= max_argument_bytes;
        });
        if (program_.environment.size() > max_variables || !are_variables)
            reader_.fault("environment", fmt::format("must have at most {} variables with plain names", max_variables));
        for (const char* name : {"PATH", "HOME", "TMPDIR", "LD_PRELOAD"})
            if (program_.environment.contains(name))
                reader_.fault("environment", fmt::format("must not set {}", name));
    }

    LinePattern pattern(JsonReader& results, std::string_view field, unsigned groups)
    {
        LinePattern pattern;
        results.required(field, pattern.text);
        if (!results.finish())
            return pattern;
        if (pattern.text.empty() || pattern.text.size() > max_pattern_bytes) {
            results.fault(field, fmt::format("must have 1 to {} bytes", max_pattern_bytes));
            return pattern;
        }
        try {
            // Without backtracking: the lines are the candidate's. It knows no references back to groups.
            pattern.regex = std::regex(pattern.text, std::regex::ECMAScript | std::regex_constants::__polynomial);
            if (pattern.regex.mark_count() != groups)
                results.fault(field, fmt::format("must have {}", groups == 1 ? "one group: the rank"
                                                                             : "two groups: the rank and its time"));
        } catch (const std::regex_error& error) {
            results.fault(field, fmt::format("is no regular expression: {}", error.what()));
        }
        return pattern;
    }

    void readResults()
    {
        const json* object = reader_.object("results");
        if (!object)
            return;
        JsonReader results(*object, where_, "results");
        program_.pass = pattern(results, "pass", 1);
        program_.time = pattern(results, "time", 2);
        std::string unit;
        results.required("unit", unit);
        const auto known = std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
        if (known == units.end())
            results.fault("unit", "must be ns, us, ms or s");
        else
            program_.unit_us = known->second;
        note(results.finishKnowingAll());
    }

    void readTimeouts()
    {
        if (!reader_.present("timeouts_s"))
            return;
        if (const json* object = reader_.object("timeouts_s")) {
            JsonReader timeouts(*object, where_, "timeouts_s");
            for (const auto& [name, timeout] :
                 {std::pair("compile", &workload_.compile_timeout), std::pair("run", &workload_.run_timeout)}) {
                auto seconds = static_cast<int>(timeout->count());
                timeouts.optional(name, seconds);
                if (seconds < 1 || seconds > max_timeout_s)
                    timeouts.fault(name, fmt::format("must be from 1 to {}", max_timeout_s));
                *timeout = std::chrono::seconds(seconds);
            }
            note(timeouts.finishKnowingAll());
        }
    }

    JsonReader reader_;
    const std::string where_;
    Workload workload_;
    ProgramSpec program_;
    std::optional<Error> error_;
};

}  // namespace

std::vector<std::string> withPlaces(const std::vector<std::string>& argv, const ProgramPlaces& places)
{
    std::vector<std::string> replaced;
    for (const auto& argument : argv) {
        std::string text;
        for (std::size_t at = 0; at < argument.size();) {
            const std::string_view rest = std::string_view(argument).substr(at);
            if (rest.starts_with("{source}")) {
                text += places.source;
                at += 8;
            } else if (rest.starts_with("{binary}")) {
                text += places.binary;
                at += 8;
            } else if (rest.starts_with("{ranks}")) {
                text += std::to_string(places.ranks);
                at += 7;
            } else {
                text += argument[at++];
            }
        }
        replaced.push_back(std::move(text));
    }
    return replaced;
}

Result<Workload> readProgramManifest(const json& document, const std::filesystem::path& folder,
                                     const std::string& where)
{
    return ProgramReader(document, folder, where).read();
}

}  // namespace cuco
