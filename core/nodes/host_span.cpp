// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/host_span.h"

#include "core/base/subprocess.h"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <set>

namespace cuco {

namespace {

constexpr std::array launchers{"mpirun", "srun"};
constexpr int most_gpus = 64;
constexpr std::size_t most_hosts = 64, longest_name = 253;

constexpr const char* how = "Write mpirun: or srun:, and then the hosts with their GPUs, as in mpirun:gpu-a=4,gpu-b=4.";

bool isHostName(std::string_view name)
{
    return !name.empty() && name.size() <= longest_name && name.front() != '-' &&
           std::ranges::all_of(name,
                               [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '.' || c == '_'; });
}

Result<HostSpan::Host> parseHost(std::string_view text)
{
    const auto equals = text.find('=');
    HostSpan::Host host{std::string(text.substr(0, equals)), 0};
    const std::string_view digits = equals == text.npos ? std::string_view() : text.substr(equals + 1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), host.gpus);
    if (!isHostName(host.name) || read.ec != std::errc() || read.ptr != digits.data() + digits.size() ||
        host.gpus < 1 || host.gpus > most_gpus)
        return failure(fmt::format("\"{}\" is no host with its number of GPUs.", text), "", how);
    return host;
}

std::string joinedNames(const HostSpan& span, std::string_view after_each)
{
    std::string text;
    for (const auto& host : span.hosts)
        text += (text.empty() ? "" : ",") + host.name + std::string(after_each);
    return text;
}

/// mpirun's own words on what it is.
Result<std::string> askVersion(const std::filesystem::path& program, std::stop_token stop,
                               std::chrono::seconds patience)
{
    Command command;
    command.argv = {program.string(), "--version"};
    command.working_directory = "/";
    command.environment = scrubbedEnvironment();
    command.limits.wall = patience;
    const auto outcome = runCommand(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->cancelled)
        return failure("The question for mpirun's version was stopped.", program.string());
    if (outcome->timed_out)
        return failure(fmt::format("mpirun does not tell its version within {} s.", patience.count()), program.string(),
                       "Run mpirun --version by itself.");
    return outcome->out + outcome->err;
}

}  // namespace

int HostSpan::gpus() const
{
    return std::accumulate(hosts.begin(), hosts.end(), 0, [](int sum, const Host& host) { return sum + host.gpus; });
}

Result<std::vector<int>> HostSpan::deal(int ranks) const
{
    const int count = static_cast<int>(hosts.size());
    std::vector<int> dealt;
    for (int i = 0; i < count; ++i)
        dealt.push_back(ranks / count + (i < ranks % count ? 1 : 0));
    for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (dealt[at] == 0)
            return failure(fmt::format("{} ranks cannot be spread over {} hosts.", ranks, count), "",
                           "Ask for more ranks (--ranks), or name fewer hosts.");
        if (dealt[at] > hosts[at].gpus)
            return failure(
                fmt::format("Host {} would have {} ranks and has {} GPUs.", hosts[at].name, dealt[at], hosts[at].gpus),
                "", "Ask for fewer ranks (--ranks): they are spread evenly over the hosts.");
    }
    return dealt;
}

std::optional<Result<HostSpan>> parseHostSpan(std::string_view node_name)
{
    const auto colon = node_name.find(':');
    const auto launcher = std::ranges::find(launchers, node_name.substr(0, colon));
    if (colon == node_name.npos || launcher == launchers.end())
        return std::nullopt;
    HostSpan span;
    span.launcher = *launcher;
    std::set<std::string> names;
    for (std::string_view rest = node_name.substr(colon + 1);;) {
        const auto comma = rest.find(',');
        auto host = parseHost(rest.substr(0, comma));
        if (!host)
            return Result<HostSpan>(std::unexpected(host.error()));
        if (!names.insert(host->name).second)
            return Result<HostSpan>(failure(fmt::format("Host {} comes twice.", host->name), "",
                                            "Name it once, with all of its GPUs that may be used."));
        span.hosts.push_back(std::move(*host));
        if (comma == rest.npos)
            break;
        rest.remove_prefix(comma + 1);
    }
    if (span.hosts.size() < 2)
        return Result<HostSpan>(
            failure("One host is no span of hosts.", span.hosts.front().name, "Use the node \"local\" on it."));
    if (span.hosts.size() > most_hosts)
        return Result<HostSpan>(failure(fmt::format("There are more than {} hosts.", most_hosts), "", how));
    return Result<HostSpan>(std::move(span));
}

Result<std::vector<std::string>> launchCommand(const HostSpan& span, std::stop_token stop,
                                               std::chrono::seconds patience)
{
    const auto program = findProgram(span.launcher);
    if (!program)
        return failure(span.launcher + " was not found.", "",
                       "Install it, or load its module, on the host that you start this program on.");
    const std::string count = std::to_string(span.hosts.size());
    if (span.launcher == "srun")
        // Beside other steps of the same allocation, and without binding: the ranks choose their CPUs.
        return std::vector<std::string>{program->string(),     "--nodelist=" + joinedNames(span, ""),
                                        "--nodes=" + count,    "--ntasks=" + count,
                                        "--ntasks-per-node=1", "--overlap",
                                        "--cpu-bind=none",     "--kill-on-bad-exit=1"};
    const auto version = askVersion(*program, stop, patience);
    if (!version)
        return std::unexpected(version.error());
    if (version->find("Open MPI") != version->npos || version->find("OpenRTE") != version->npos) {
        std::vector<std::string> words{program->string(), "--host", joinedNames(span, ":1"), "-np", count,
                                       "--bind-to",       "none"};
        if (::geteuid() == 0)
            words.emplace_back("--allow-run-as-root");
        return words;
    }
    if (version->find("HYDRA") != version->npos || version->find("Intel(R) MPI") != version->npos)
        return std::vector<std::string>{program->string(), "-hosts", joinedNames(span, ""), "-ppn", "1", "-n", count};
    return failure("This mpirun is neither Open MPI's nor MPICH's.", program->string(),
                   "Use one of them, or srun in a Slurm allocation.");
}

bool isLauncherVariable(std::string_view name)
{
    constexpr std::array prefixes{"SLURM_", "OMPI_", "PRTE_", "PMIX_", "HYDRA_", "I_MPI_"};
    constexpr std::array names{"USER", "LOGNAME", "SSH_AUTH_SOCK"};
    return std::ranges::any_of(prefixes, [&](const char* prefix) { return name.starts_with(prefix); }) ||
           std::ranges::find(names, name) != names.end();
}

}  // namespace cuco
