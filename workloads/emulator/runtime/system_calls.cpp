// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/system_calls.h"

#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

namespace cuco_emu {

thread_local volatile char watched_system_calls = 0;

void report_refused_call()
{
    if (auto failure = refused_call())
        fail(*failure);
}

}  // namespace cuco_emu

#if defined(__x86_64__)

extern "C" {
void cuco_watch_begin();
void cuco_watch_end();
long cuco_watch_call(long number, long a, long b, long c, long d, long e, long f);
}

// The kernel lets calls from this range through: the handler's own, and its return, after which calls are watched
// again.
asm(R"(
.text
.p2align 4
.hidden cuco_watch_begin
.hidden cuco_watch_call
.hidden cuco_watch_end
.globl cuco_watch_begin
.type cuco_watch_begin,@function
cuco_watch_begin:
    movq $15, %rax
    syscall
    ud2
.globl cuco_watch_call
.type cuco_watch_call,@function
cuco_watch_call:
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %r10
    movq %r9, %r8
    movq 8(%rsp), %r9
    syscall
    ret
.globl cuco_watch_end
.type cuco_watch_end,@function
cuco_watch_end:
    ret
)");

namespace cuco_emu {
namespace {

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

/// What memory, threads, clocks and an orderly end need.
bool is_harmless(long number, const long* arguments)
{
    switch (number) {
        case SYS_brk:
        case SYS_munmap:
        case SYS_mremap:
        case SYS_mprotect:
        case SYS_madvise:
        case SYS_futex:
        case SYS_sched_yield:
        case SYS_nanosleep:
        case SYS_clock_nanosleep:
        case SYS_clock_gettime:
        case SYS_clock_getres:
        case SYS_gettimeofday:
        case SYS_time:
        case SYS_getcpu:
        case SYS_getpid:
        case SYS_gettid:
        case SYS_getrandom:
        case SYS_getrusage:
        case SYS_sched_getaffinity:
        case SYS_sysinfo:
        case SYS_uname:
        case SYS_set_robust_list:
        case SYS_rseq:
        case SYS_exit:
        case SYS_exit_group:
            return true;
        case SYS_mmap:  // of no file
            return (arguments[3] & MAP_ANONYMOUS) != 0;
        case SYS_prlimit64:  // only asked
            return arguments[2] == 0;
        case SYS_tgkill:  // abort
            return arguments[0] == getpid() && arguments[2] == SIGABRT;
        case SYS_write:
        case SYS_writev:
        case SYS_fstat:
        case SYS_ioctl:
            return arguments[0] == STDOUT_FILENO || arguments[0] == STDERR_FILENO;
        case SYS_newfstatat: {  // as fstat
            const auto* path = reinterpret_cast<const char*>(arguments[1]);
            return (arguments[0] == STDOUT_FILENO || arguments[0] == STDERR_FILENO) && path && *path == '\0';
        }
        default:
            return false;
    }
}

/// The C and C++ libraries look these up by themselves and do without.
bool is_looked_up_by_libraries(const char* path)
{
    static constexpr std::array prefixes = {"/sys/devices/system/cpu/", "/proc/sys/vm/overcommit_memory",
                                            "/proc/cpuinfo", "/proc/stat"};
    return path && std::ranges::any_of(
                       prefixes, [&](const char* prefix) { return std::strncmp(path, prefix, strlen(prefix)) == 0; });
}

std::string name_of(long number)
{
    struct Name {
        long number;
        const char* text;
    };
    static constexpr Name names[] = {
        {SYS_read, "read"},
        {SYS_write, "write"},
        {SYS_open, "open"},
        {SYS_openat, "openat"},
        {SYS_close, "close"},
        {SYS_stat, "stat"},
        {SYS_mmap, "mmap"},
        {SYS_pread64, "pread64"},
        {SYS_pwrite64, "pwrite64"},
        {SYS_access, "access"},
        {SYS_pipe, "pipe"},
        {SYS_dup2, "dup2"},
        {SYS_socket, "socket"},
        {SYS_connect, "connect"},
        {SYS_sendto, "sendto"},
        {SYS_clone, "clone"},
        {SYS_clone3, "clone3"},
        {SYS_fork, "fork"},
        {SYS_vfork, "vfork"},
        {SYS_execve, "execve"},
        {SYS_kill, "kill"},
        {SYS_tgkill, "tgkill"},
        {SYS_ptrace, "ptrace"},
        {SYS_prctl, "prctl"},
        {SYS_unlink, "unlink"},
        {SYS_unlinkat, "unlinkat"},
        {SYS_rename, "rename"},
        {SYS_ftruncate, "ftruncate"},
        {SYS_fallocate, "fallocate"},
        {SYS_memfd_create, "memfd_create"},
        {SYS_setsid, "setsid"},
        {SYS_setpgid, "setpgid"},
        {SYS_shmget, "shmget"},
        {SYS_rt_sigaction, "rt_sigaction"},
        {SYS_sigaltstack, "sigaltstack"},
        {SYS_process_vm_readv, "process_vm_readv"},
        {SYS_process_vm_writev, "process_vm_writev"},
        {SYS_getdents64, "getdents64"},
        {SYS_readlink, "readlink"},
    };
    for (const auto& name : names)
        if (name.number == number)
            return name.text;
    return "number " + std::to_string(number);
}

/// The innermost place in the candidate from which the call came, for the message. Return addresses are searched for
/// on the stack, because libraries keep no frame pointers.
const void* origin_of(const ucontext_t& context)
{
    const auto* instruction = reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
    if (module_at(instruction))
        return instruction;
    const auto* stack = reinterpret_cast<void* const*>(context.uc_mcontext.gregs[REG_RSP]);
    std::ptrdiff_t words = 100;  // of a thread's stack, above which the thread's own data lies
    if (current_rank && slot_of(stack) == host_stack_slot)
        words = reinterpret_cast<void* const*>(current_rank->host.stack + host_stack_bytes) - stack;
    const auto* end = stack + std::min<std::ptrdiff_t>(words, 1000);
    const auto* found = std::find_if(stack, end, [](const void* word) { return module_at(word) != nullptr; });
    return found == end ? nullptr : *found;
}

/// The first call that was refused. It is reported later: the C library may have been interrupted with locks held that
/// a report needs. Until then every such call fails.
struct Refused {
    std::atomic<bool> yes{false};
    long number = 0, descriptor = 0;
    char path[200] = {};
    const void* origin = nullptr;
    int rank = -1;
} refused;

void refuse(long number, const long* arguments, const ucontext_t& context)
{
    if (refused.yes.exchange(true))
        return;
    refused.number = number;
    refused.descriptor = arguments[0];
    const char* path = number == SYS_open || number == SYS_unlink || number == SYS_execve
                           ? reinterpret_cast<const char*>(arguments[0])
                       : number == SYS_openat ? reinterpret_cast<const char*>(arguments[1])
                                              : nullptr;
    if (path)
        std::strncpy(refused.path, path, sizeof refused.path - 1);
    refused.origin = origin_of(context);
    refused.rank = current_rank ? current_rank->index : -1;
}

void on_system_call(int, siginfo_t*, void* data)
{
    watched_system_calls = 0;
    const int error = errno;
    auto& context = *static_cast<ucontext_t*>(data);
    auto& registers = context.uc_mcontext.gregs;
    const long number = registers[REG_RAX];
    const long arguments[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                              registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
    const char* path = number == SYS_openat ? reinterpret_cast<const char*>(arguments[1])
                       : number == SYS_open ? reinterpret_cast<const char*>(arguments[0])
                                            : nullptr;
    if (number == SYS_exit_group)
        report_refused_call();
    if (is_harmless(number, arguments))
        registers[REG_RAX] =
            cuco_watch_call(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    else if (number == SYS_rt_sigprocmask)
        registers[REG_RAX] = 0;  // a candidate blocks no signal; abort() asks for it
    else if (is_looked_up_by_libraries(path))
        registers[REG_RAX] = -EACCES;
    else {
        refuse(number, arguments, context);
        registers[REG_RAX] = -EPERM;
    }
    errno = error;
    watched_system_calls = 1;
}

struct KernelAction {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
};

void catch_system_calls()
{
    constexpr unsigned long own_restorer = 0x04000000;
    KernelAction action{on_system_call, SA_SIGINFO | SA_NODEFER | own_restorer, cuco_watch_begin, 0};
    syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, sizeof action.mask);
}

struct ThreadStart {
    void* (*body)(void*);
    void* argument;
};

void* watched_thread(void* data)
{
    const ThreadStart start = *static_cast<ThreadStart*>(data);
    delete static_cast<ThreadStart*>(data);
    watch_system_calls();
    watched_system_calls = 1;
    return start.body(start.argument);
}

}  // namespace

std::optional<Failure> refused_call()
{
    if (!refused.yes)
        return std::nullopt;
    std::string text = "The candidate made the system call " + name_of(refused.number);
    if (refused.path[0] != '\0')
        text += std::string(" (") + refused.path + ")";
    if (refused.number == SYS_write || refused.number == SYS_close || refused.number == SYS_read)
        text += " of descriptor " + std::to_string(refused.descriptor);
    text += "; it may compute, allocate, wait for its threads and print, nothing else.";
    return Failure{"tampering", refused.rank, text, "", source_line(refused.origin)};
}

void watch_system_calls()
{
    catch_system_calls();
    const auto begin = reinterpret_cast<unsigned long>(&cuco_watch_begin);
    const auto end = reinterpret_cast<unsigned long>(&cuco_watch_end);
    // An older kernel refuses; the run goes on without.
    prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, begin, end - begin, &watched_system_calls);
}

}  // namespace cuco_emu

/// Takes the C library's place: a thread that a candidate starts is watched too.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument)
{
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    if (cuco_emu::watched_system_calls == 0)
        return create(thread, attributes, body, argument);
    cuco_emu::watched_system_calls = 0;
    auto* start = new cuco_emu::ThreadStart{body, argument};
    const int result = create(thread, attributes, cuco_emu::watched_thread, start);
    if (result != 0)
        delete start;
    cuco_emu::watched_system_calls = 1;
    return result;
}

#else

namespace cuco_emu {

void watch_system_calls() {}
std::optional<Failure> refused_call()
{
    return std::nullopt;
}

}  // namespace cuco_emu

#endif
