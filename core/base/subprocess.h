// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

/// What may end a command before its time.
enum class CommandLimit { none, wall, processes, memory, disk, file_size };

struct CommandLimits {
    std::chrono::milliseconds wall{60'000};
    std::uint64_t output_bytes = 4u << 20;  ///< kept per stream; what comes beyond is read and dropped
    std::uint64_t report_bytes = 64u << 20;
    std::optional<std::uint64_t> address_space_bytes;
    /// RLIMIT_DATA: private writable memory only, for programs that reserve more addresses than they use.
    std::optional<std::uint64_t> data_bytes;
    std::optional<std::uint64_t> file_bytes;  ///< RLIMIT_FSIZE
    std::optional<std::uint64_t> open_files;  ///< RLIMIT_NOFILE, each process

    // Of the program and all its descendants together, looked at some twenty times a second. Descendants that have left
    // the process tree are seen only in a sandbox, which they cannot leave.
    std::optional<std::uint64_t> processes;     ///< and threads
    std::optional<std::uint64_t> memory_bytes;  ///< resident and not backed by files
    std::optional<std::uint64_t> folder_bytes;  ///< on disk in the working directory
};

/// "It started more than 512 processes and threads."; empty for none.
std::string describeExceeded(CommandLimit limit, const CommandLimits& limits);

/// A program to run. `argv` goes to execve as it is; no shell ever sees it.
struct Command {
    std::vector<std::string> argv;
    std::vector<std::string> sandbox;  ///< goes before argv: Node::sandbox; empty runs the program as it is
    std::filesystem::path working_directory;
    std::map<std::string, std::string> environment;  ///< the whole environment, nothing inherited
    std::string input;                               ///< written to standard input, which is then closed
    bool report_channel = false;                     ///< opens a pipe on descriptor 3 and names it in CUCO_REPORT_FD
    CommandLimits limits;
};

struct CommandOutcome {
    int exit_code = -1;  ///< valid when signal == 0
    int signal = 0;
    bool timed_out = false;
    CommandLimit exceeded = CommandLimit::none;  ///< what ended it; wall when timed_out
    bool cancelled = false;
    bool output_truncated = false;
    std::string out, err;
    std::string report;  ///< what came through the report channel
    std::chrono::microseconds wall{};

    bool succeeded() const { return exit_code == 0 && signal == 0 && exceeded == CommandLimit::none && !cancelled; }
};

/// Runs the command in a process group of its own and always ends that whole group before returning, and in a sandbox
/// every descendant: on exit, when a limit is exceeded, and when `stop` is requested. Errors: the program cannot be
/// started.
Result<CommandOutcome> runCommand(const Command& command, std::stop_token stop = {});

/// Path of a program on PATH or else beside this program, or nothing.
std::optional<std::filesystem::path> findProgram(const std::string& name);

/// PATH, HOME, LANG and TMPDIR of this process and nothing else: no key ever reaches a candidate.
std::map<std::string, std::string> scrubbedEnvironment();

}  // namespace cuco
