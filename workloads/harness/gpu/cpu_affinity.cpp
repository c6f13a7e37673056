// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/cpu_affinity.h"

#include <sched.h>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

namespace cuco_harness {
namespace {

std::string lineOf(const std::string& path)
{
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
}

std::vector<int> allowedCpus()
{
    std::vector<int> cpus;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set))
            cpus.push_back(cpu);
    }
    return cpus;
}

/// Those of the GPU's node that this process may use; all that it may use when the system does not say.
std::vector<int> cpusNear(std::string bus_id, const std::vector<int>& allowed)
{
    std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto near = parseCpuList(lineOf("/sys/bus/pci/devices/" + bus_id + "/local_cpulist"));
    std::vector<int> both;
    std::set_intersection(near.begin(), near.end(), allowed.begin(), allowed.end(), std::back_inserter(both));
    return both.empty() ? allowed : both;
}

std::vector<std::vector<int>> coresOf(const std::vector<int>& cpus)
{
    std::map<std::string, std::vector<int>> by_siblings;
    std::vector<std::vector<int>> cores;
    for (const int cpu : cpus) {
        const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
        std::string siblings = lineOf(folder + "thread_siblings_list");
        by_siblings[siblings.empty() ? std::to_string(cpu) : siblings].push_back(cpu);
    }
    for (auto& [siblings, core] : by_siblings)
        cores.push_back(std::move(core));
    std::sort(cores.begin(), cores.end());
    return cores;
}

}  // namespace

std::vector<int> parseCpuList(const std::string& text)
{
    std::set<int> cpus;
    const char* next = text.c_str();
    while (std::isdigit(static_cast<unsigned char>(*next))) {
        char* end = nullptr;
        const long first = std::strtol(next, &end, 10);
        long last = first;
        if (*end == '-' && std::isdigit(static_cast<unsigned char>(end[1])))
            last = std::strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu)
            cpus.insert(int(cpu));
        next = *end == ',' ? end + 1 : end;
    }
    return {cpus.begin(), cpus.end()};
}

std::vector<std::vector<int>> dealCores(const std::vector<std::vector<int>>& cores, int ranks)
{
    std::vector<std::vector<int>> dealt{size_t(ranks)};
    const size_t each = cores.empty() ? 0 : (cores.size() - 1) / size_t(ranks);
    for (size_t rank = 0; each >= 2 && rank < dealt.size(); ++rank) {
        for (size_t core = 1 + rank * each; core < 1 + (rank + 1) * each; ++core)
            dealt[rank].insert(dealt[rank].end(), cores[core].begin(), cores[core].end());
    }
    return dealt;
}

std::vector<std::vector<int>> cpusOfRanks(const std::vector<std::string>& bus_ids)
{
    const auto allowed = allowedCpus();
    std::map<std::vector<int>, std::vector<size_t>> ranks_near;
    for (size_t rank = 0; rank < bus_ids.size(); ++rank)
        ranks_near[cpusNear(bus_ids[rank], allowed)].push_back(rank);
    std::vector<std::vector<int>> cpus(bus_ids.size());
    for (const auto& [near, ranks] : ranks_near) {
        const auto dealt = dealCores(coresOf(near), int(ranks.size()));
        for (size_t i = 0; i < ranks.size(); ++i)
            cpus[ranks[i]] = dealt[i];
    }
    return cpus;
}

void stayOn(const std::vector<int>& cpus)
{
    if (cpus.empty())
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus)
        CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

}  // namespace cuco_harness
