// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/rank_launch.h"

#include "gpu/descriptors.h"
#include "gpu/own_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <new>

namespace cuco_harness {
namespace {

int sharedPage(TimingPage*& page)
{
    const int descriptor = memfd_create("cuco-timing", MFD_CLOEXEC);
    if (descriptor < 0)
        return -1;
    void* memory = MAP_FAILED;
    if (ftruncate(descriptor, sizeof(TimingPage)) == 0)
        memory = mmap(nullptr, sizeof(TimingPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        close(descriptor);
        return -1;
    }
    page = new (memory) TimingPage{};
    return descriptor;
}

[[noreturn]] void becomeLauncher(const std::vector<std::string>& prefix, const Variables& variables,
                                 const HostShare& share, const std::vector<int>& descriptors)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    std::vector<std::string> arguments = prefix;
    arguments.push_back(ownProgram());
    arguments.push_back("ranks");
    for (const int number : {share.first_rank, share.all_ranks, share.first_device, share.devices})
        arguments.push_back(std::to_string(number));
    for (const int descriptor : descriptors) {
        fcntl(descriptor, F_SETFD, 0);
        arguments.push_back(std::to_string(descriptor));
    }
    // The report is the supervisor's alone.
    unsetenv("CUCO_REPORT_FD");
    for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
    closeDescriptors(descriptors);
    std::vector<char*> argv;
    for (auto& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
}

}  // namespace

RankLaunch::~RankLaunch()
{
    end();
    if (page_)
        munmap(page_, sizeof *page_);
}

bool RankLaunch::start(const std::vector<std::string>& prefix, const Variables& variables, const HostShare& share,
                       std::vector<Channel>& ranks, Channel& launcher)
{
    ranks.resize(size_t(share.ranks));
    std::vector<Channel> theirs(ranks.size() + 1);
    const int page = sharedPage(page_);
    bool made = page >= 0 && Channel::makePair(launcher, theirs.back());
    for (size_t i = 0; made && i < ranks.size(); ++i)
        made = Channel::makePair(ranks[i], theirs[i]);
    std::vector<int> descriptors{page, theirs.back().socket()};
    for (size_t i = 0; i < ranks.size(); ++i)
        descriptors.push_back(theirs[i].socket());
    process_ = made ? fork() : -1;
    if (process_ == 0)
        becomeLauncher(prefix, variables, share, descriptors);
    if (page >= 0)
        close(page);
    if (process_ > 0)
        setpgid(process_, process_);
    return process_ > 0;
}

void RankLaunch::end()
{
    if (process_ > 0) {
        kill(-process_, SIGKILL);
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    process_ = -1;
}

}  // namespace cuco_harness
