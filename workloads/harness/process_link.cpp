// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CUCO_EMULATED
#include "process_link.h"

#include "wire.h"

#include <dlfcn.h>
#include <unistd.h>
#include <cstring>
#include <ctime>

namespace cuco_harness {

std::optional<CandidateFunctions> ProcessLink::load(const std::string& path, std::string& error)
{
    // The handle stays open: kernels of the object may be in use until the process ends.
    void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        error = dlerror();
        return std::nullopt;
    }
    CandidateFunctions functions;
    functions.setup = reinterpret_cast<decltype(functions.setup)>(dlsym(object, "cuco_setup"));
    functions.run = reinterpret_cast<decltype(functions.run)>(dlsym(object, "cuco_run"));
    functions.teardown = reinterpret_cast<decltype(functions.teardown)>(dlsym(object, "cuco_teardown"));
    if (!functions.setup || !functions.run || !functions.teardown) {
        error = "it does not define cuco_setup, cuco_run and cuco_teardown";
        return std::nullopt;
    }
    return functions;
}

void ProcessLink::send(char kind, const std::string& bytes)
{
    if (!sendAll(socket_, packed(kind, bytes)))
        _exit(1);
}

std::string ProcessLink::answer(char kind)
{
    Message message;
    if (!receiveMessage(socket_, received_, message) || message.kind != kind)
        _exit(1);
    return message.bytes;
}

std::vector<std::string> ProcessLink::gather(const std::string& mine)
{
    send(message_kind::gather, mine);
    std::string all = answer(message_kind::gather);
    std::vector<std::string> out;
    Message part;
    for (bool broken = false; takeMessage(all, part, broken);)
        out.push_back(part.bytes);
    return out;
}

int64_t ProcessLink::commonStart()
{
    send(message_kind::start, "");
    const std::string bytes = answer(message_kind::start);
    int64_t start = 0;
    if (bytes.size() != sizeof start)
        _exit(1);
    std::memcpy(&start, bytes.data(), sizeof start);
    while (monotonicNs() < start) {
    }
    return start;
}

int64_t ProcessLink::nowNs() const
{
    return monotonicNs();
}

void ProcessLink::delay(int64_t ns)
{
    timespec pause{time_t(ns / 1'000'000'000), long(ns % 1'000'000'000)};
    nanosleep(&pause, nullptr);
}

void ProcessLink::progress(const std::string& shape, const std::string& doing)
{
    send(message_kind::progress, packed('s', shape) + packed('d', doing));
}

void ProcessLink::report(const ReportLine& line)
{
    send(message_kind::report, line.text());
}

void ProcessLink::finish(const Outcome& outcome)
{
    if (outcome)
        send(message_kind::failure, outcome->toLine().text());
    else
        send(message_kind::done, "");
}

}  // namespace cuco_harness
#endif
