// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"

#include "core/base/child_process.h"
#include "core/base/process_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <system_error>

namespace cuco {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long output of orphans is still read after the leader has exited.
constexpr milliseconds orphan_grace{100};
/// A killed process that is still there after this is stuck in the kernel.
// Thousands of processes take their time to die on a machine that they have loaded.
constexpr milliseconds kill_limit{60'000};

/// Keeps a write to a closed pipe from killing this process: the signal stays blocked in this thread
/// and is taken back before the mask is restored.
class BlockedSigpipe {
public:
    BlockedSigpipe()
    {
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        sigemptyset(&sigpipe_);
        sigaddset(&sigpipe_, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &sigpipe_, &old_mask_);
    }
    ~BlockedSigpipe()
    {
        if (!was_pending_) {
            const timespec now{};
            while (sigtimedwait(&sigpipe_, nullptr, &now) < 0 && errno == EINTR) {
            }
        }
        pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
    }
    BlockedSigpipe(const BlockedSigpipe&) = delete;
    BlockedSigpipe& operator=(const BlockedSigpipe&) = delete;

private:
    sigset_t sigpipe_{}, old_mask_{};
    bool was_pending_ = false;
};

/// Reads one of the child's streams; keeps `limit` bytes and drops the rest.
class Reader {
public:
    Reader(UniqueFd fd, std::string& to, std::uint64_t limit) : fd_(std::move(fd)), to_(&to), limit_(limit) {}

    int fd() const { return fd_.get(); }
    bool open() const { return fd_.open(); }
    bool truncated() const { return truncated_; }

    /// Takes what is there, at most a few pipes full; closes at the end of file.
    void drain()
    {
        std::array<char, 1 << 16> buffer;
        for (int turn = 0; turn < 64 && open(); ++turn) {
            const ssize_t count = ::read(fd_.get(), buffer.data(), buffer.size());
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count < 0 && errno == EAGAIN) {
                return;
            }
            if (count <= 0) {
                fd_.reset();
                return;
            }
            const auto kept = std::min<std::uint64_t>(limit_ - to_->size(), static_cast<std::uint64_t>(count));
            truncated_ = truncated_ || kept < static_cast<std::uint64_t>(count);
            to_->append(buffer.data(), static_cast<std::size_t>(kept));
        }
    }

private:
    UniqueFd fd_;
    std::string* to_;
    std::uint64_t limit_;
    bool truncated_ = false;
};

void feed(UniqueFd& pipe, std::string_view& input)
{
    while (!input.empty()) {
        const ssize_t count = ::write(pipe.get(), input.data(), input.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && errno == EAGAIN) {
            return;
        }
        if (count < 0) {  // the child no longer reads
            break;
        }
        input.remove_prefix(static_cast<std::size_t>(count));
    }
    pipe.reset();
}

int timeoutUntil(Clock::time_point deadline)
{
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

/// Moves bytes between the child's pipes and the outcome, and watches the child, the clock and `wake`.
class Conversation {
public:
    Conversation(ChildProcess& child, const Command& command, CommandOutcome& outcome)
        : child_(child), outcome_(outcome), watch_(child.id(), command), input_(command.input), in_(std::move(child.in))
    {
        readers_.emplace_back(std::move(child.out), outcome.out, command.limits.output_bytes);
        readers_.emplace_back(std::move(child.err), outcome.err, command.limits.output_bytes);
        if (command.report_channel) {
            readers_.emplace_back(std::move(child.report), outcome.report, command.limits.report_bytes);
        }
        feed(in_, input_);
    }

    /// Until the leader has exited, a limit is exceeded, the deadline or a wake-up.
    void untilExit(Clock::time_point deadline, int wake)
    {
        while (!child_.exited()) {
            if (Clock::now() >= deadline) {
                outcome_.timed_out = true;
                outcome_.exceeded = CommandLimit::wall;
                return;
            }
            if (Clock::now() >= watch_.next()) {
                outcome_.exceeded = watch_.check();
                if (outcome_.exceeded != CommandLimit::none) {
                    return;
                }
            }
            if (turn(std::min(deadline, watch_.next()), wake, child_.exitDescriptor())) {
                outcome_.cancelled = true;
                return;
            }
        }
    }

    /// Until every stream has ended or the deadline.
    void untilSilent(Clock::time_point deadline)
    {
        in_.reset();
        while (Clock::now() < deadline && std::ranges::any_of(readers_, &Reader::open)) {
            turn(deadline, -1, -1);
        }
    }

    void finish()
    {
        for (Reader& reader : readers_) {
            reader.drain();
            outcome_.output_truncated = outcome_.output_truncated || reader.truncated();
        }
    }

private:
    /// One poll and the work it shows; true when `wake` fired. After the exit its descriptor must be -1: it stays
    /// readable and would turn the wait into a spin.
    bool turn(Clock::time_point deadline, int wake, int exit)
    {
        // poll skips negative descriptors, so closed streams need no care.
        std::vector<pollfd> polled{{wake, POLLIN, 0}, {in_.get(), POLLOUT, 0}, {exit, POLLIN, 0}};
        for (const Reader& reader : readers_) {
            polled.push_back({reader.fd(), POLLIN, 0});
        }
        if (::poll(polled.data(), polled.size(), std::min(timeoutUntil(deadline), child_.longestWait())) <= 0) {
            return false;
        }
        if (polled[1].revents != 0) {
            feed(in_, input_);
        }
        for (std::size_t i = 0; i < readers_.size(); ++i) {
            if (polled[i + 3].revents != 0) {
                readers_[i].drain();
            }
        }
        return polled[0].revents != 0;
    }

    ChildProcess& child_;
    CommandOutcome& outcome_;
    ProcessWatch watch_;
    std::string_view input_;
    UniqueFd in_;
    std::vector<Reader> readers_;
};

}  // namespace

Result<CommandOutcome> runCommand(const Command& command, std::stop_token stop)
{
    CommandOutcome outcome;
    if (stop.stop_requested()) {
        outcome.cancelled = true;
        return outcome;
    }
    UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake.open()) {
        return failure(fmt::format("No event descriptor can be opened: {}.", std::generic_category().message(errno)),
                       {}, "Close other programs or raise the limit on open files.");
    }
    const BlockedSigpipe blocked_sigpipe;
    const auto start = Clock::now();
    auto child = ChildProcess::start(command);
    if (!child) {
        return std::unexpected(child.error());
    }
    Conversation conversation(*child, command, outcome);
    {
        const std::stop_callback wake_up(stop, [fd = wake.get()] { ::eventfd_write(fd, 1); });
        conversation.untilExit(start + command.limits.wall, wake.get());
    }
    outcome.wall = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
    if (child->exited()) {
        conversation.untilSilent(Clock::now() + orphan_grace);
    }
    child->killGroup();
    if (!child->waitForExit(kill_limit) || !child->waitForSandbox(kill_limit)) {
        return failure("The program was killed but does not end: it is stuck in the kernel.", command.argv.front(),
                       "Check the machine's devices and file systems; a restart may be needed.");
    }
    conversation.untilSilent(Clock::now() + orphan_grace);
    conversation.finish();
    const std::optional<int> status = child->reap();
    if (!status) {
        return failure("How the program ended is not known, because SIGCHLD is ignored.", command.argv.front(),
                       "Start CUCo Desktop from a shell or launcher that does not ignore SIGCHLD.");
    }
    if (child->sandboxFailed() && WIFEXITED(*status)) {
        return failure("The sandbox could not be made.", outcome.err.substr(0, outcome.err.find('\n')),
                       "Run cucoctl node probe to see whether bubblewrap works on this machine.");
    }
    if (WIFSIGNALED(*status)) {
        outcome.signal = WTERMSIG(*status);
    } else {
        outcome.exit_code = WEXITSTATUS(*status);
    }
    // bubblewrap ends as a shell does when its program was ended by a signal.
    if (!command.sandbox.empty() && outcome.exit_code > 128 && outcome.exit_code <= 128 + SIGRTMAX) {
        outcome.signal = outcome.exit_code - 128;
    }
    if (outcome.signal == SIGXFSZ && outcome.exceeded == CommandLimit::none) {
        outcome.exceeded = CommandLimit::file_size;
    }
    return outcome;
}

std::string describeExceeded(CommandLimit limit, const CommandLimits& limits)
{
    const auto mebibytes = [](std::optional<std::uint64_t> bytes) { return bytes.value_or(0) >> 20; };
    switch (limit) {
        case CommandLimit::none:
            break;
        case CommandLimit::wall:
            return fmt::format("It did not end within {} s.", std::chrono::duration<double>(limits.wall).count());
        case CommandLimit::processes:
            return fmt::format("It had more than {} processes and threads.", limits.processes.value_or(0));
        case CommandLimit::memory:
            return fmt::format("It took more than {} MiB of memory.", mebibytes(limits.memory_bytes));
        case CommandLimit::disk:
            return fmt::format("It wrote more than {} MiB into its folder.", mebibytes(limits.folder_bytes));
        case CommandLimit::file_size:
            return fmt::format("It wrote a file larger than {} MiB.", mebibytes(limits.file_bytes));
    }
    return {};
}

std::optional<std::filesystem::path> findProgram(const std::string& name)
{
    const auto runnable = [](const std::filesystem::path& path) {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.empty()) {
        return std::nullopt;
    }
    if (name.find('/') != std::string::npos) {
        return runnable(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
    }
    const auto environment = scrubbedEnvironment();
    std::string_view folders = environment.at("PATH");
    while (!folders.empty()) {
        const std::size_t colon = std::min(folders.find(':'), folders.size());
        const std::filesystem::path folder(folders.substr(0, colon));
        // An empty or relative entry would run whatever lies in the current folder.
        if (folder.is_absolute() && runnable(folder / name)) {
            return folder / name;
        }
        folders.remove_prefix(std::min(colon + 1, folders.size()));
    }
    // A bundle brings programs along in its own folder.
    std::error_code error;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name;
    if (!error && runnable(own)) {
        return own;
    }
    return std::nullopt;
}

std::map<std::string, std::string> scrubbedEnvironment()
{
    std::map<std::string, std::string> environment{{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    for (const char* name : {"PATH", "HOME", "LANG", "TMPDIR"}) {
        if (const char* value = std::getenv(name)) {
            environment[name] = value;
        }
    }
    return environment;
}

}  // namespace cuco
