// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/host_findings.h"

#include "core/base/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace cuco {

namespace {

constexpr const char* mark = "cuco-host";

struct SurveyedHost {
    std::string name;
    int gpus = 0;
    bool sees_cache = false;
};

std::vector<SurveyedHost> readSurvey(const std::string& output)
{
    std::vector<SurveyedHost> hosts;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first, sees;
        SurveyedHost host;
        if (!(words >> first >> host.name >> host.gpus) || first != mark)
            continue;
        host.sees_cache = words >> sees && sees == "sees";
        hosts.push_back(std::move(host));
    }
    return hosts;
}

std::string shortName(const std::string& name)
{
    return name.substr(0, name.find('.'));
}

/// Those of which nothing was heard, where their names tell: nothing when others answered by names that are none of
/// these.
std::vector<std::string> silentHosts(const HostSpan& span, const std::vector<SurveyedHost>& hosts)
{
    std::vector<std::string> silent;
    for (const auto& wanted : span.hosts)
        if (std::ranges::none_of(hosts,
                                 [&](const auto& found) { return shortName(found.name) == shortName(wanted.name); }))
            silent.push_back(wanted.name);
    if (silent.size() + hosts.size() != span.hosts.size())
        silent.clear();
    return silent;
}

std::string lastLine(const std::string& text)
{
    const auto end = text.find_last_not_of("\r\n");
    if (end == std::string::npos)
        return {};
    const auto begin = text.find_last_of('\n', end);
    return text
        .substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1)
        .substr(0, 300);
}

}  // namespace

std::vector<std::string> hostSurveyCommand(const std::vector<std::string>& launch, const std::filesystem::path& folder)
{
    std::vector<std::string> words = launch;
    for (const char* word : {"/bin/sh", "-c",
                             "echo cuco-host \"$(uname -n || echo unknown)\" "
                             "\"$(nvidia-smi -L 2>/dev/null | grep -c ^GPU)\" \"$(test -e \"$1\" && echo sees)\"",
                             "sh"})
        words.emplace_back(word);
    words.push_back(folder.string());
    return words;
}

std::vector<Error> judgeHosts(const HostSpan& span, const CommandOutcome& survey)
{
    const auto hosts = readSurvey(survey.out);
    const char* const by_hand = "Run it by itself: mpirun or srun must reach every host without asking for anything.";
    if (survey.timed_out)
        return {{"The hosts did not answer in time.", span.launcher, by_hand}};
    if (hosts.size() != span.hosts.size()) {
        const auto silent = silentHosts(span, hosts);
        return {{silent.empty() || silent.size() == span.hosts.size()
                     ? fmt::format("{} of {} hosts answered.", hosts.size(), span.hosts.size())
                     : fmt::format("{} of {} hosts answered, not {}.", hosts.size(), span.hosts.size(),
                                   fmt::join(silent, ", ")),
                 fmt::format("{}: {}", span.launcher, lastLine(survey.err)), by_hand}};
    }
    std::vector<Error> problems;
    for (const auto& found : hosts) {
        if (!found.sees_cache)
            problems.push_back({fmt::format("Host {} does not see the cache folder.", found.name), "",
                                "Set XDG_CACHE_HOME to a folder on a file system that all hosts share."});
        const auto wanted = std::ranges::find_if(
            span.hosts, [&](const auto& host) { return shortName(host.name) == shortName(found.name); });
        if (wanted != span.hosts.end() && found.gpus < wanted->gpus)
            problems.push_back({fmt::format("Host {} has {} GPUs, not {}.", found.name, found.gpus, wanted->gpus), "",
                                "Correct the node's name, or look at nvidia-smi there."});
    }
    return problems;
}

std::map<std::string, std::string> launcherVariables()
{
    return variablesWhere(isLauncherVariable);
}

}  // namespace cuco
