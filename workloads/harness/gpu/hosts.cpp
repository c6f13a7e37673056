// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/hosts.h"

#include "gpu/descriptors.h"
#include "gpu/failure_wire.h"
#include "gpu/host_clock.h"
#include "gpu/own_program.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <map>

namespace cuco_harness {
namespace {

constexpr int look_ms = 200;

std::string absolute(const std::string& folder)
{
    char path[PATH_MAX];
    return realpath(folder.c_str(), path) ? path : folder;
}

/// mpirun and srun differ in what they pass on. Which GPUs are to be seen is every host's own affair.
Variables variablesForHosts()
{
    Variables variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text(*entry);
        const auto equals = text.find('=');
        const std::string name = text.substr(0, equals);
        const bool of_cuda = name.rfind("CUDA_", 0) == 0 && name != "CUDA_VISIBLE_DEVICES";
        if (equals != text.npos && (of_cuda || name.rfind("NCCL_", 0) == 0 || name == "LD_LIBRARY_PATH"))
            variables.emplace_back(name, text.substr(equals + 1));
    }
    return variables;
}

/// "gpu-b" of "gpu-b.cluster"; an address is what it is.
std::string shortName(const std::string& name)
{
    return name.find_first_not_of("0123456789.") == name.npos ? name : name.substr(0, name.find('.'));
}

/// Which agent has which of the job's shares. Launchers may number hosts in an order of their own, so names decide;
/// whom none fits (an address, an alias) takes the others' in the order of numbers.
std::vector<int> agentsByShare(const std::vector<JobHost>& shares, const std::map<int, std::string>& agents)
{
    std::vector<int> dealt(shares.size(), -1);
    std::map<int, std::string> left = agents;
    for (size_t i = 0; i < shares.size(); ++i) {
        for (const auto& [number, name] : left) {
            if (shortName(name) != shortName(shares[i].name))
                continue;
            dealt[i] = number;
            left.erase(number);
            break;
        }
    }
    for (int& number : dealt) {
        if (number < 0)
            number = left.extract(left.begin()).key();
    }
    return dealt;
}

std::string commandOf(const Job& job)
{
    std::string text;
    for (const auto& word : job.launch)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

}  // namespace

Hosts::~Hosts()
{
    for (auto& host : hosts_) {
        if (host.relay)
            host.relay->stop();
        if (host.thread.joinable())
            host.thread.join();
        host.messages.close();
    }
    clocks_.clear();
    if (launcher_ > 0) {
        // The agents have noticed that nobody is there any more; a launcher that waits for more is not waited for.
        for (int waited_ms = 0; waited_ms < look_ms * 10 && waitpid(launcher_, nullptr, WNOHANG) == 0; waited_ms += 10)
            usleep(10'000);
        kill(-launcher_, SIGKILL);
        waitpid(launcher_, nullptr, 0);
    }
}

Outcome Hosts::launch(const Job& job, const std::string& invitation)
{
    launcher_ = fork();
    if (launcher_ < 0)
        return environmentFailure("The command that starts the harness on the hosts could not be started.");
    if (launcher_ == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        unsetenv("CUCO_REPORT_FD");
        std::vector<std::string> words = job.launch;
        for (const auto& word : {ownProgram(), std::string("host"), invitation})
            words.push_back(word);
        // The report is the supervisor's alone.
        closeDescriptors();
        std::vector<char*> argv;
        for (auto& word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    setpgid(launcher_, launcher_);
    return std::nullopt;
}

Outcome Hosts::launcherEnded(const Job& job)
{
    int status = 0;
    if (waitpid(launcher_, &status, WNOHANG) != launcher_)
        return std::nullopt;
    launcher_ = -1;
    Failure failure = environmentFailure(
        WIFEXITED(status) && WEXITSTATUS(status) == 127
            ? "The command that starts the harness on the hosts was not found: " + job.launch[0] + "."
            : "The command that starts the harness on the hosts ended before all hosts had answered. Try it by itself "
              "with another program, such as hostname.");
    failure.detail = commandOf(job);
    return failure;
}

Outcome Hosts::awaitAgents(const Job& job, AgentListener& listener, int patience_ms)
{
    const size_t wanted = job.hosts.size();
    std::map<int, std::string> names;
    std::map<int, Channel> messages, clocks;
    int unnumbered = 0;
    for (int64_t until_ns = monotonicNs() + int64_t(patience_ms) * 1'000'000;
         messages.size() < wanted || clocks.size() < wanted;) {
        Channel channel;
        if (const auto greeting = listener.accept(look_ms, channel)) {
            auto& arrived = greeting->clock ? clocks : messages;
            if (greeting->number < 0 || greeting->number >= int(wanted) || arrived.count(greeting->number) > 0)
                ++unnumbered;
            else
                arrived[greeting->number] = std::move(channel);
            names[greeting->number] = greeting->host;
        } else if (auto failed = launcherEnded(job)) {
            return failed;
        }
        const std::string wrong_count =
            unnumbered == 0 ? ""
                            : " One came that none was wanted of: the command must start one program on each host.";
        if (unnumbered > 0 || monotonicNs() > until_ns) {
            Failure failure = environmentFailure(std::to_string(messages.size()) + " of " + std::to_string(wanted) +
                                                 " hosts have answered." + wrong_count);
            failure.detail = commandOf(job);
            return failure;
        }
    }
    for (const int agent : agentsByShare(job.hosts, names)) {
        hosts_.emplace_back().messages = std::move(messages[agent]);
        clocks_.push_back(std::move(clocks[agent]));
        names_.push_back(names[agent]);
    }
    return std::nullopt;
}

/// Two agents of one host take its GPUs in turn.
void Hosts::dealDevices(const Job& job)
{
    std::map<std::string, int> devices;
    int rank = 0;
    for (size_t i = 0; i < hosts_.size(); ++i) {
        HostShare& share = hosts_[i].share;
        share.first_rank = rank;
        share.ranks = job.hosts[i].ranks;
        share.all_ranks = job.ranks;
        share.first_device = devices[names_[i]];
        rank += share.ranks;
        devices[names_[i]] += share.ranks;
    }
    for (size_t i = 0; i < hosts_.size(); ++i)
        hosts_[i].share.devices = devices[names_[i]];
}

Outcome Hosts::startHost(Host& host, const HostStart& start)
{
    const size_t streams = streamsOf(host.share, start.programs.size());
    host.ours.resize(streams);
    host.theirs.resize(streams);
    for (size_t i = 0; i < streams; ++i) {
        if (!Channel::makePair(host.ours[i], host.theirs[i]))
            return environmentFailure("No sockets could be made for the ranks on other hosts.");
    }
    if (!host.messages.send(host_message::start, packHostStart(start)))
        return environmentFailure("A host of this job is gone.");
    return std::nullopt;
}

Outcome Hosts::start(const Job& job, const std::vector<const Program*>& programs,
                     const std::vector<std::string>& sandbox, int patience_ms)
{
    AgentListener listener;
    const std::string folder = absolute(job.folder);
    const std::string invitation = folder + "/hosts.txt";
    if (!listener.open() || !writeInvitation(invitation, listener.invitation()))
        return environmentFailure("The harness cannot listen for the hosts, or cannot write " + invitation + ".");
    Outcome failed = launch(job, invitation);
    if (!failed)
        failed = awaitAgents(job, listener, patience_ms);
    // The candidate must not find it.
    unlink(invitation.c_str());
    CUCO_CHECK(failed);
    dealDevices(job);
    HostStart start;
    start.folder = folder;
    start.job = job.text;
    start.environment = variablesForHosts();
    start.sandbox = sandbox;
    for (const Program* program : programs)
        start.programs.push_back(program->variables);
    for (auto& host : hosts_) {
        start.share = host.share;
        CUCO_CHECK(startHost(host, start));
    }
    for (size_t i = 0; i < hosts_.size(); ++i) {
        Message answer;
        if (!hosts_[i].messages.receive(answer))
            return environmentFailure("Host " + names_[i] + " is gone.");
        if (answer.kind == host_message::done)
            continue;
        Failure failure = unpackFailure(answer.bytes);
        failure.message = "Host " + names_[i] + ": " + failure.message;
        return failure;
    }
    return std::nullopt;
}

std::vector<Channel> Hosts::takeObservers()
{
    std::vector<Channel> channels;
    for (auto& host : hosts_)
        channels.push_back(std::move(host.ours[observer_stream]));
    return channels;
}

TeamLinks Hosts::takeLinks(int team)
{
    TeamLinks links;
    for (auto& host : hosts_) {
        links.launchers.push_back(std::move(host.ours[launcherStream(host.share, size_t(team))]));
        for (int i = 0; i < host.share.ranks; ++i)
            links.ranks.push_back(
                std::move(host.ours[rankStream(host.share, size_t(team), host.share.first_rank + i)]));
    }
    links.start_line = std::make_unique<HostsStartLine>(clocks_, team);
    return links;
}

void Hosts::open()
{
    for (size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        host.relay = std::make_unique<StreamRelay>(std::move(host.messages), std::move(host.theirs));
        // A rank whose channel is closed next must be known to have lost its host.
        host.relay->lost = [socket = clocks_[i].socket()] { shutdown(socket, SHUT_RDWR); };
        host.thread = std::thread([&relay = *host.relay] { relay.run(); });
    }
}

}  // namespace cuco_harness
