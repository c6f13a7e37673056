// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"

#include "runtime/loader.h"
#include "runtime/memory.h"
#include "runtime/system_calls.h"
#include "runtime/warp.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <vector>

extern char** environ;

namespace cuco_emu {
namespace {

std::function<void(const Failure&)> callback;
bool failing = false;

std::string dimension(const uint3& v)
{
    return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + ")";
}

/// Output of a program, without a shell; empty when it cannot run.
std::string output_of(const std::vector<std::string>& arguments)
{
    int ends[2];
    if (pipe(ends) != 0)
        return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::vector<char*> argv;
    for (const auto& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t child = 0;
    const int started = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; started == 0 && (count = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(count));
    close(ends[0]);
    if (started == 0)
        waitpid(child, nullptr, 0);
    return text;
}

const char* signal_meaning(int number)
{
    switch (number) {
        case SIGSEGV:
            return "an invalid address was used (SIGSEGV)";
        case SIGBUS:
            return "an invalid address was used (SIGBUS)";
        case SIGFPE:
            return "an integer was divided by zero (SIGFPE)";
        case SIGILL:
            return "an invalid instruction was reached (SIGILL)";
        default:
            return "the program was aborted, by an assertion or an uncaught exception (SIGABRT)";
    }
}

const void* interrupted_at(void* context)
{
#if defined(__x86_64__)
    return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] + 1);
#elif defined(__aarch64__)
    return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc + 4);
#else
    (void)context;
    return nullptr;
#endif
}

void on_signal(int number, siginfo_t* info, void* context)
{
    watched_system_calls = 0;
    if (failing)
        _exit(failure_exit_status);
    std::string message = signal_meaning(number);
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const auto stack = current_thread ? reinterpret_cast<std::uintptr_t>(current_thread->stack) : 0;
    if (number == SIGSEGV && current_warp && address < stack + 64 && address + (1u << 20) > stack)
        fail_in_kernel("crash", stack_overflow_message, *current_thread, interrupted_at(context));
    if (number == SIGSEGV || number == SIGBUS)
        message += " at " + describe_address(info->si_addr);
    const void* site = number == SIGABRT ? nullptr : interrupted_at(context);
    if (current_warp)
        fail_in_kernel("crash", "In kernel " + current_warp->block->kernel->name + " " + message + ".", *current_thread,
                       site);
    if (current_rank)
        fail_in_host("crash", "In host code " + message + ".", site);
    fail({"crash", -1, "Outside the candidate " + message + ".", "", 0});
}

}  // namespace

void on_failure(std::function<void(const Failure&)> handler)
{
    callback = std::move(handler);
}

void fail(Failure failure)
{
    watched_system_calls = 0;
    if (!failing) {
        failing = true;
        if (auto refused = refused_call())
            failure = std::move(*refused);
        else if (const Thread* thread = overflowed_thread())  // what failed may be what it wrote over
            failure = {"crash", thread->warp->block->kernel->rank->index, stack_overflow_message,
                       "in " + describe_thread(*thread), 0};
        if (race_checking)
            report_races();
        if (callback)
            callback(failure);
    }
    _exit(failure_exit_status);
}

int source_line(const void* return_address)
{
    watched_system_calls = 0;  // only asked for on the way to a failure
    const Module* module = return_address ? module_at(return_address) : nullptr;
    if (!module)
        return 0;
    std::ostringstream offset;
    offset << "0x" << std::hex << reinterpret_cast<std::uintptr_t>(return_address) - module->begin - 1;
    std::istringstream lines(output_of({"addr2line", "-i", "-e", module->path, offset.str()}));
    int first = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.rfind(':');
        const int number = colon == std::string::npos ? 0 : std::atoi(line.c_str() + colon + 1);
        const bool ours = line.find("/emulator/include/") != std::string::npos;
        if (number > 0 && !ours)
            return number;
        first = first == 0 ? number : first;
    }
    return first;
}

std::string describe_thread(const Thread& thread)
{
    const Block& block = *thread.warp->block;
    return block.kernel->name + ", block " + dimension(block.index) + ", thread " + dimension(thread.index) +
           " of rank " + std::to_string(block.kernel->rank->index);
}

void fail_in_kernel(const char* kind, const std::string& message, const Thread& thread, const void* site)
{
    const int rank = thread.warp->block->kernel->rank->index;
    fail({kind, rank, message, "in " + describe_thread(thread), source_line(site)});
}

void fail_in_host(const char* kind, const std::string& message, const void* site)
{
    const int rank = current_rank ? current_rank->index : -1;
    fail({kind, rank, message, "in host code of rank " + std::to_string(rank), source_line(site)});
}

void catch_signals()
{
    static char stack[256 << 10];
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        sigaction(number, &action, nullptr);
}

}  // namespace cuco_emu

using namespace cuco_emu;

void cuco_emu_trap(const char* why)
{
    if (current_warp)
        fail_in_kernel("crash", "Kernel " + current_warp->block->kernel->name + " called " + why + ".", *current_thread,
                       CUCO_EMU_CALL_SITE());
    fail_in_host("crash", std::string("Host code called ") + why + ".", CUCO_EMU_CALL_SITE());
}
