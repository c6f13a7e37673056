// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/neighbours.h"

#include "gpu/departure.h"

#include <unistd.h>
#include <algorithm>
#include <string>
#include <vector>

namespace cuco_harness {
namespace {

constexpr int neighbour_looks = 10;
constexpr useconds_t neighbour_pause_us = 50'000;

}  // namespace

ReportLine lookForNeighbours(Observer& observer)
{
    std::vector<ObservedGpu> gpus;
    std::vector<double> observers;  // ReportLine's lists are of these
    std::string json = "[";
    Departure departure(neighbour_looks);
    for (;;) {
        if (auto failed = observer.look(gpus))
            return ReportLine("gpu_fault").add("rank", failed->rank).add("message", failed->message);
        size_t others = 0;  // than the observer
        for (const auto& gpu : gpus) {
            const auto there = std::count(gpu.processes_json.begin(), gpu.processes_json.end(), '{');
            others += there > 1 ? size_t(there - 1) : 0;
        }
        if (!departure.goesOn(others))
            break;
        usleep(neighbour_pause_us);
    }
    for (const auto& gpu : gpus) {
        json += (json.size() > 1 ? "," : "") + gpu.processes_json;
        observers.push_back(double(gpu.observer));
    }
    return ReportLine("processes").addJson("gpus", json + "]").add("observers", observers);
}

}  // namespace cuco_harness
