// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

namespace cuco {

namespace {

/// Above the descriptors a child gets, so that arranging those never overwrites one still needed.
constexpr int first_safe_fd = 10;
constexpr int report_fd = 3;
constexpr int status_fd = 4;

struct Pipe {
    UniqueFd read, write;
};

Result<Pipe> makePipe()
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
        const UniqueFd read(ends[0]), write(ends[1]);
        Pipe pipe{UniqueFd(::fcntl(read.get(), F_DUPFD_CLOEXEC, first_safe_fd)),
                  UniqueFd(::fcntl(write.get(), F_DUPFD_CLOEXEC, first_safe_fd))};
        if (pipe.read.open() && pipe.write.open()) {
            return pipe;
        }
    }
    return failure(fmt::format("No pipe can be opened: {}.", std::generic_category().message(errno)), {},
                   "Close other programs or raise the limit on open files.");
}

void makeNonBlocking(const UniqueFd& fd)
{
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

enum class StartStep : int { working_directory, limits, execute };

struct StartFault {
    StartStep step;
    int error;
};

/// All that the child needs between fork and exec, made before the fork: no memory may be allocated there.
struct ChildPlan {
    const char* program;
    const char* working_directory;  // nullptr: stays
    char* const* argv;
    char* const* environment;
    int in, out, err, report, status, fault;
    pid_t parent;
    const rlimit* address_space;
    const rlimit* data_size;
    const rlimit* file_size;
    const rlimit* open_files;
};

[[noreturn]] void giveUp(const ChildPlan& plan, StartStep step)
{
    const StartFault fault{step, errno};
    // Should the write fail, the parent sees the exit code.
    [[maybe_unused]] const ssize_t written = ::write(plan.fault, &fault, sizeof fault);
    ::_exit(127);
}

void closeOnExecFrom(unsigned first)
{
    if (::close_range(first, ~0u, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
    for (int fd = static_cast<int>(first); fd < 65'536; ++fd) {  // kernels before 5.11
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

/// Runs in the child: only async-signal-safe calls.
[[noreturn]] void becomeProgram(const ChildPlan& plan)
{
    ::setpgid(0, 0);
    // Without its parent nobody would end it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) {
        ::_exit(127);
    }
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) {
        ::sigaction(number, &by_default, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(plan.in, 0);
    ::dup2(plan.out, 1);
    ::dup2(plan.err, 2);
    if (plan.report >= 0) {
        ::dup2(plan.report, report_fd);
    }
    closeOnExecFrom(plan.report >= 0 ? report_fd + 1 : report_fd);
    if (plan.status >= 0) {
        ::dup2(plan.status, status_fd);
    }
    if (plan.working_directory && ::chdir(plan.working_directory) != 0) {
        giveUp(plan, StartStep::working_directory);
    }
    const rlimit no_core{0, 0};
    if (::setrlimit(RLIMIT_CORE, &no_core) != 0 ||
        (plan.address_space && ::setrlimit(RLIMIT_AS, plan.address_space) != 0) ||
        (plan.data_size && ::setrlimit(RLIMIT_DATA, plan.data_size) != 0) ||
        (plan.file_size && ::setrlimit(RLIMIT_FSIZE, plan.file_size) != 0) ||
        (plan.open_files && ::setrlimit(RLIMIT_NOFILE, plan.open_files) != 0)) {
        giveUp(plan, StartStep::limits);
    }
    for (int attempt = 0; attempt < 100; ++attempt) {
        ::execve(plan.program, plan.argv, plan.environment);
        if (errno != ETXTBSY) {
            break;
        }
        // Another thread's child, between its fork and exec, still holds the file open for writing.
        const timespec pause{0, 10'000'000};
        ::nanosleep(&pause, nullptr);
        errno = ETXTBSY;
    }
    giveUp(plan, StartStep::execute);
}

std::vector<char*> pointersTo(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

Error describeFault(const StartFault& fault, const Command& command)
{
    const std::string reason = std::generic_category().message(fault.error);
    switch (fault.step) {
        case StartStep::working_directory:
            return {fmt::format("The program \"{}\" cannot be started in its working folder: {}.", command.argv.front(),
                                reason),
                    command.working_directory.string(), "Check that the folder exists."};
        case StartStep::limits:
            return {fmt::format("The limits of the program \"{}\" cannot be set: {}.", command.argv.front(), reason),
                    {},
                    "Lower the limits below those of this session (ulimit -a)."};
        case StartStep::execute:
            break;
    }
    return {fmt::format("The program \"{}\" cannot be started: {}.", command.argv.front(), reason),
            {},
            "Check that it is installed and may be run."};
}

bool hasNul(const Command& command)
{
    const auto nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
    return std::ranges::any_of(command.sandbox, nul) || std::ranges::any_of(command.argv, nul) ||
           nul(command.working_directory.native()) || std::ranges::any_of(command.environment, [&](const auto& item) {
               return nul(item.first) || nul(item.second) || item.first.find('=') != std::string::npos;
           });
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const Command& command)
{
    if (command.argv.empty() || hasNul(command)) {
        return failure("A command needs a program, and no text in it may have a zero byte.");
    }
    const bool sandboxed = !command.sandbox.empty();
    std::vector<std::string> arguments = command.sandbox;
    if (sandboxed) {
        arguments.insert(arguments.begin() + 1, {"--json-status-fd", std::to_string(status_fd)});
    }
    arguments.insert(arguments.end(), command.argv.begin(), command.argv.end());
    const auto program = findProgram(arguments.front());
    const bool has_folder = arguments.front().find('/') != std::string::npos;
    if (!program && !has_folder) {
        return failure(fmt::format("The program \"{}\" is not found.", arguments.front()), {},
                       "Install it, or put its folder on PATH.");
    }
    const std::string program_path = has_folder ? arguments.front() : program->string();
    std::vector<std::string> environment;
    auto variables = command.environment;
    if (command.report_channel) {
        variables["CUCO_REPORT_FD"] = std::to_string(report_fd);
    }
    for (const auto& [name, value] : variables) {
        environment.push_back(fmt::format("{}={}", name, value));
    }
    const std::vector<char*> argv = pointersTo(arguments);
    const std::vector<char*> envp = pointersTo(environment);

    Pipe in, out, err, fault_pipe, report, status;
    std::vector<Pipe*> wanted{&in, &out, &err, &fault_pipe};
    if (command.report_channel) {
        wanted.push_back(&report);
    }
    if (sandboxed) {
        wanted.push_back(&status);
    }
    for (Pipe* wanted_pipe : wanted) {
        auto pipe = makePipe();
        if (!pipe) {
            return std::unexpected(pipe.error());
        }
        *wanted_pipe = std::move(*pipe);
    }
    const auto both = [](std::optional<std::uint64_t> limit) { return rlimit{limit.value_or(0), limit.value_or(0)}; };
    const CommandLimits& limits = command.limits;
    const rlimit address_space = both(limits.address_space_bytes), data_size = both(limits.data_bytes);
    const rlimit file_size = both(limits.file_bytes), open_files = both(limits.open_files);
    const ChildPlan plan{program_path.c_str(),
                         command.working_directory.empty() ? nullptr : command.working_directory.c_str(),
                         argv.data(),
                         envp.data(),
                         in.read.get(),
                         out.write.get(),
                         err.write.get(),
                         report.write.get(),
                         status.write.get(),
                         fault_pipe.write.get(),
                         ::getpid(),
                         limits.address_space_bytes ? &address_space : nullptr,
                         limits.data_bytes ? &data_size : nullptr,
                         limits.file_bytes ? &file_size : nullptr,
                         limits.open_files ? &open_files : nullptr};

    // No handler of this program may run in the child.
    sigset_t all, old_mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_mask);
    ChildProcess child;
    child.pid_ = ::fork();
    if (child.pid_ == 0) {
        becomeProgram(plan);
    }
    const int fork_error = errno;
    pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
    if (child.pid_ < 0) {
        return failure(fmt::format("The program \"{}\" cannot be started: {}.", command.argv.front(),
                                   std::generic_category().message(fork_error)),
                       {}, "Close other programs and try again.");
    }
    ::setpgid(child.pid_, child.pid_);  // the child does it too; whoever comes first
    // By number: glibc 2.36 declares pidfd_open without C linkage.
    child.exit_fd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
    fault_pipe.write.reset();
    StartFault fault{};
    ssize_t count = 0;
    do {  // ends with the exec, which closes the child's end
        count = ::read(fault_pipe.read.get(), &fault, sizeof fault);
    } while (count < 0 && errno == EINTR);
    if (count == static_cast<ssize_t>(sizeof fault)) {
        return std::unexpected(describeFault(fault, command));  // child's destructor reaps it
    }
    child.in = std::move(in.write);
    child.out = std::move(out.read);
    child.err = std::move(err.read);
    child.report = std::move(report.read);
    child.sandbox_status_ = std::move(status.read);
    for (const UniqueFd* end : {&child.in, &child.out, &child.err, &child.report, &child.sandbox_status_}) {
        if (end->open()) {
            makeNonBlocking(*end);
        }
    }
    return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : in(std::move(other.in)),
      out(std::move(other.out)),
      err(std::move(other.err)),
      report(std::move(other.report)),
      pid_(std::exchange(other.pid_, -1)),
      exit_fd_(std::move(other.exit_fd_)),
      sandbox_status_(std::move(other.sandbox_status_)),
      sandbox_failed_(other.sandbox_failed_)
{
}

ChildProcess::~ChildProcess()
{
    if (pid_ > 0) {
        killGroup();
        // Bounded, like every wait: a process stuck in the kernel is left behind rather than waited for.
        if (waitForExit(std::chrono::seconds{1})) {
            reap();
        }
    }
}

bool ChildProcess::exited() const
{
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return errno == ECHILD;  // reaped by the kernel because SIGCHLD is ignored
    }
    return info.si_pid == pid_;
}

int ChildProcess::longestWait() const
{
    return exit_fd_.open() ? 3'600'000 : 5;
}

bool ChildProcess::waitForExit(std::chrono::milliseconds limit) const
{
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!exited()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        if (left <= 0) {
            return false;
        }
        pollfd polled{exit_fd_.get(), POLLIN, 0};
        ::poll(&polled, 1, static_cast<int>(std::min<std::int64_t>(left, longestWait())));
    }
    return true;
}

bool ChildProcess::waitForSandbox(std::chrono::milliseconds limit)
{
    if (!sandbox_status_.open()) {
        return true;
    }
    // {"child-pid": 1234, …} when there is a sandbox, {"exit-code": 0} when a program ran in it to its end.
    char text[1024] = {};
    const ssize_t count = ::read(sandbox_status_.get(), text, sizeof text - 1);
    sandbox_status_.reset();
    constexpr std::string_view mark = "\"child-pid\":";
    const std::string_view said(text, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    const auto at = said.find(mark);
    const pid_t first = at == said.npos ? 0 : static_cast<pid_t>(std::strtol(text + at + mark.size(), nullptr, 10));
    sandbox_failed_ = said.find("\"exit-code\":") == said.npos;
    if (first <= 0) {
        return true;
    }
    // The kernel ends all of a sandbox's processes before its first one is gone.
    const UniqueFd gone(static_cast<int>(::syscall(SYS_pidfd_open, first, 0)));
    pollfd polled{gone.get(), POLLIN, 0};
    if (!gone.open() || ::poll(&polled, 1, static_cast<int>(limit.count() / 10)) > 0) {
        return true;
    }
    // bubblewrap was killed before it had bound the sandbox's life to its own.
    ::syscall(SYS_pidfd_send_signal, gone.get(), SIGKILL, nullptr, 0);
    return ::poll(&polled, 1, static_cast<int>(limit.count())) > 0;
}

void ChildProcess::killGroup() const
{
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // should it have left its group
}

std::optional<int> ChildProcess::reap()
{
    int status = 0;
    pid_t reaped = -1;
    do {
        reaped = ::waitpid(pid_, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    pid_ = -1;
    return reaped < 0 ? std::nullopt : std::optional(status);
}

}  // namespace cuco
