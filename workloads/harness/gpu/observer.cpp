// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/observer.h"

#include "gpu/failure_wire.h"
#include "gpu/observer_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace cuco_harness {
namespace {

Failure observerGone()
{
    return environmentFailure(
        "The process that checks the outputs ended by itself. Run cucoctl node probe; a GPU may "
        "be in an error state.");
}

Packer packedSeeds(int team, int first_set, const std::vector<uint64_t>& seeds)
{
    Packer packer;
    packer.number(int64_t(team)).number(int64_t(first_set)).number(int64_t(seeds.size()));
    for (const uint64_t seed : seeds)
        packer.number(int64_t(seed));
    return packer;
}

}  // namespace

Outcome Observer::start(const Job& job)
{
    Channel theirs;
    if (!Channel::makePair(channel_, theirs))
        return environmentFailure("No socket could be made for the observer.");
    process_ = fork();
    if (process_ < 0)
        return environmentFailure("The observer's process could not be started.");
    if (process_ == 0) {
        channel_.close();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        // What profiles a candidate must not profile the oracle.
        unsetenv("CUDA_INJECTION64_PATH");
        serveAsObserver(job, std::move(theirs));
        _exit(0);
    }
    return std::nullopt;
}

Observer::~Observer()
{
    channel_.close();
    if (process_ > 0) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
}

Outcome Observer::answer(std::string& reply)
{
    Message message;
    if (!channel_.receive(message))
        return observerGone();
    if (message.kind == observer_message::failed)
        return unpackFailure(message.bytes);
    reply = std::move(message.bytes);
    return std::nullopt;
}

Outcome Observer::ask(char kind, const std::string& bytes, std::string& reply, const std::vector<int>& descriptors)
{
    if (!channel_.send(kind, bytes, descriptors))
        return observerGone();
    return answer(reply);
}

void Observer::postOpen()
{
    // A failure to send shows when the answer is waited for.
    channel_.send(observer_message::open, "");
}

Outcome Observer::finishOpen()
{
    std::string reply;
    return answer(reply);
}

Outcome Observer::attach(int team, int shape, int sets, const std::vector<SharedRegions>& of_ranks)
{
    Packer packer;
    std::vector<int> descriptors;
    packer.number(int64_t(team)).number(int64_t(shape)).number(int64_t(sets));
    for (const auto& regions : of_ranks) {
        for (const int64_t bytes : regions.bytes)
            packer.number(bytes);
        descriptors.insert(descriptors.end(), regions.descriptors.begin(), regions.descriptors.end());
    }
    std::string reply;
    return ask(observer_message::attach, packer.bytes(), reply, descriptors);
}

Outcome Observer::detach(int team)
{
    std::string reply;
    return ask(observer_message::detach, Packer().number(int64_t(team)).bytes(), reply);
}

Outcome Observer::prepare(int team, int first_set, const std::vector<uint64_t>& seeds)
{
    std::string reply;
    return ask(observer_message::prepare, packedSeeds(team, first_set, seeds).bytes(), reply);
}

Outcome Observer::glance(int team, int first_set, int length)
{
    std::string reply;
    return ask(observer_message::glance,
               Packer().number(int64_t(team)).number(int64_t(first_set)).number(int64_t(length)).bytes(), reply);
}

Outcome Observer::check(int team, int first_set, const std::vector<uint64_t>& seeds, bool snapshot,
                        std::vector<Observation>& observations)
{
    std::string reply;
    CUCO_CHECK(
        ask(observer_message::check, packedSeeds(team, first_set, seeds).number(int64_t(snapshot)).bytes(), reply));
    observations.clear();
    Unpacker fields(reply);
    const int64_t count = fields.number();
    for (int64_t i = 0; i < count && fields.ok(); ++i) {
        Observation& seen = observations.emplace_back();
        seen.iteration = int(fields.number());
        seen.rank = int(fields.number());
        seen.output = int(fields.number());
        seen.right = fields.number() != 0;
        seen.late = fields.number() != 0;
        seen.comparison.relative_l2 = fields.real();
        seen.comparison.max_error = fields.real();
        seen.comparison.elements = fields.number();
        seen.comparison.wrong_elements = fields.number();
        seen.comparison.element = fields.number();
        seen.comparison.expected = fields.real();
        seen.comparison.got = fields.real();
        for (int64_t bins = fields.number(); bins > 0 && fields.ok(); --bins)
            seen.wrong_in_bin.push_back(fields.number());
    }
    return fields.ok() ? Outcome() : observerGone();
}

Outcome Observer::checkGuards(int team)
{
    std::string reply;
    return ask(observer_message::guards, Packer().number(int64_t(team)).bytes(), reply);
}

Outcome Observer::measureRates(double& link_bytes_per_s, double& hbm_bytes_per_s)
{
    std::string reply;
    CUCO_CHECK(ask(observer_message::rates, "", reply));
    Unpacker fields(reply);
    link_bytes_per_s = fields.real();
    hbm_bytes_per_s = fields.real();
    return fields.ok() ? Outcome() : observerGone();
}

Outcome Observer::occupy(int rank, int64_t duration_ns)
{
    std::string reply;
    return ask(observer_message::occupy, Packer().number(int64_t(rank)).number(duration_ns).bytes(), reply);
}

Outcome Observer::look(std::vector<ObservedGpu>& gpus)
{
    std::string reply;
    CUCO_CHECK(ask(observer_message::look, "", reply));
    gpus.clear();
    Unpacker fields(reply);
    for (int64_t count = fields.number(); count > 0 && fields.ok(); --count) {
        ObservedGpu& gpu = gpus.emplace_back();
        gpu.pci_bus_id = fields.text();
        gpu.sm_mhz = int(fields.number());
        gpu.memory_mhz = int(fields.number());
        gpu.temperature_c = int(fields.number());
        gpu.power_w = fields.real();
        for (int64_t names = fields.number(); names > 0 && fields.ok(); --names)
            gpu.throttling.push_back(fields.text());
        gpu.processes_json = fields.text();
    }
    return fields.ok() ? Outcome() : observerGone();
}

}  // namespace cuco_harness
