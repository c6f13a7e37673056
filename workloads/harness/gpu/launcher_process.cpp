// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/launcher_process.h"

#include "gpu/host_share.h"
#include "gpu/rank_process.h"
#include "gpu/timing_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace cuco_harness {
namespace {

[[noreturn]] void rankProcess(const std::vector<int>& descriptors, const HostShare& share, int index)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_RDONLY);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    void* const page = mmap(nullptr, sizeof(TimingPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0], 0);
    const int socket = descriptors[2 + size_t(index)];
    for (const int descriptor : descriptors) {
        if (descriptor != socket)
            close(descriptor);
    }
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    if (page == MAP_FAILED)
        _exit(3);
    serveAsRank(Channel(socket), *static_cast<TimingPage*>(page), share, share.first_rank + index);
    std::fflush(nullptr);
    // Without exit handlers: a candidate's must not run after the rank's end.
    _exit(0);
}

}  // namespace

int launchRanks(const std::vector<std::string>& arguments)
{
    constexpr size_t numbers_of_share = 4;
    std::vector<int> numbers;
    for (const auto& argument : arguments)
        numbers.push_back(std::atoi(argument.c_str()));
    if (numbers.size() < numbers_of_share + 3)
        return 2;
    const std::vector<int> descriptors(numbers.begin() + numbers_of_share, numbers.end());
    const HostShare share{numbers[0], int(descriptors.size()) - 2, numbers[1], numbers[2], numbers[3]};
    if (share.first_rank < 0 || share.all_ranks > most_ranks || share.first_rank + share.ranks > share.all_ranks)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<pid_t> processes;
    for (int index = 0; index < share.ranks; ++index) {
        const pid_t process = fork();
        if (process == 0)
            rankProcess(descriptors, share, index);
        processes.push_back(process);
    }
    const int launcher_socket = descriptors[1];
    for (const int descriptor : descriptors) {
        if (descriptor != launcher_socket)
            close(descriptor);
    }
    Channel supervisor(launcher_socket);
    for (size_t left = processes.size(); left > 0;) {
        int status = 0;
        const pid_t process = wait(&status);
        if (process < 0 && errno == EINTR)
            continue;
        if (process < 0)
            break;
        const auto found = std::find(processes.begin(), processes.end(), process);
        if (found == processes.end())
            continue;
        --left;
        supervisor.send(
            'X',
            Packer().number(int64_t(share.first_rank + (found - processes.begin()))).number(int64_t(status)).bytes());
    }
    return 0;
}

}  // namespace cuco_harness
