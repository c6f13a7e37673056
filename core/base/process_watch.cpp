// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/process_watch.h"

#include "core/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <vector>

namespace cuco {

namespace {

constexpr std::chrono::milliseconds interval{50};
/// Watching takes at most this part of one core.
constexpr int cost_divisor = 20;
constexpr int deepest_folder = 64;
/// What an empty file takes of a file system, about.
constexpr std::uint64_t bytes_per_entry = 4096;
constexpr std::uint64_t scarce_bytes = 1ull << 30;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::vector<std::string> numbersIn(const std::string& folder)
{
    std::vector<std::string> names;
    const Directory directory(::opendir(folder.c_str()));
    while (directory) {
        const dirent* entry = ::readdir(directory.get());
        if (entry == nullptr) {
            break;
        }
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') {
            names.emplace_back(entry->d_name);
        }
    }
    return names;
}

/// "RssAnon:      1234 kB" of /proc/PID/status.
std::uint64_t kibibytes(std::string_view status, std::string_view name)
{
    const auto at = status.find(name);
    if (at == std::string_view::npos) {
        return 0;
    }
    status.remove_prefix(at + name.size());
    status.remove_prefix(std::min(status.find_first_of("0123456789"), status.size()));
    std::uint64_t value = 0;
    std::from_chars(status.data(), status.data() + status.size(), value);
    return value;
}

std::uint64_t bytesBelow(int parent, const char* name, int depth, std::uint64_t most)
{
    if (depth > deepest_folder) {
        return most + 1;
    }
    const int descriptor = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const Directory directory(descriptor < 0 ? nullptr : ::fdopendir(descriptor));
    if (!directory) {
        return 0;  // gone meanwhile, or closed to us: then the free space tells
    }
    std::uint64_t bytes = bytes_per_entry;
    while (bytes <= most) {
        const dirent* entry = ::readdir(directory.get());
        if (entry == nullptr) {
            break;
        }
        const std::string_view entry_name = entry->d_name;
        struct stat info {};
        if (entry_name == "." || entry_name == ".." ||
            ::fstatat(descriptor, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISDIR(info.st_mode)) {
            bytes += bytesBelow(descriptor, entry->d_name, depth + 1, most - bytes);
        } else {
            bytes += bytes_per_entry + static_cast<std::uint64_t>(info.st_blocks) * 512;
        }
    }
    return bytes;
}

std::uint64_t freeBytes(const std::filesystem::path& folder)
{
    struct statvfs info {};
    return ::statvfs(folder.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize : 0;
}

}  // namespace

ProcessUse useOfDescendants(pid_t root, std::uint64_t most_processes)
{
    ProcessUse use;
    std::uint64_t shared = 0;
    std::vector<std::string> waiting{std::to_string(root)};
    while (!waiting.empty() && use.processes <= most_processes) {
        const std::string process = "/proc/" + waiting.back();
        waiting.pop_back();
        if (const auto status = readFile(process + "/status", 1u << 16)) {
            use.memory_bytes += kibibytes(*status, "RssAnon:") << 10;
            shared = std::max(shared, kibibytes(*status, "RssShmem:") << 10);
        }
        for (const auto& thread : numbersIn(process + "/task")) {
            ++use.processes;
            const auto children = readFile(process + "/task/" + thread + "/children", 1u << 24);
            if (!children) {
                continue;
            }
            std::istringstream words(*children);
            for (std::string word; words >> word;) {
                waiting.push_back(word);
            }
        }
    }
    use.memory_bytes += shared;
    return use;
}

std::uint64_t bytesInFolder(const std::filesystem::path& folder, std::uint64_t most)
{
    return bytesBelow(AT_FDCWD, folder.c_str(), 0, most);
}

ProcessWatch::ProcessWatch(pid_t process, const Command& command)
    : process_(process), folder_(command.working_directory), limits_(command.limits)
{
    if (folder_.empty()) {
        limits_.folder_bytes.reset();
    }
    if (limits_.folder_bytes) {
        free_at_start_ = freeBytes(folder_);
    }
    if (limits_.processes || limits_.memory_bytes || limits_.folder_bytes) {
        next_ = Clock::now() + interval;
    }
}

CommandLimit ProcessWatch::check()
{
    const auto begin = Clock::now();
    CommandLimit exceeded = CommandLimit::none;
    if (limits_.processes || limits_.memory_bytes) {
        const auto use = useOfDescendants(process_, limits_.processes.value_or(1u << 20));
        if (limits_.processes && use.processes > *limits_.processes) {
            exceeded = CommandLimit::processes;
        } else if (limits_.memory_bytes && use.memory_bytes > *limits_.memory_bytes) {
            exceeded = CommandLimit::memory;
        }
    }
    if (exceeded == CommandLimit::none && limits_.folder_bytes && diskExceeded()) {
        exceeded = CommandLimit::disk;
    }
    const auto now = Clock::now();
    next_ = now + std::max<Clock::duration>(interval, cost_divisor * (now - begin));
    return exceeded;
}

bool ProcessWatch::diskExceeded() const
{
    if (bytesInFolder(folder_, *limits_.folder_bytes) > *limits_.folder_bytes) {
        return true;
    }
    // Files without a name are in no folder. Space is scarce, and more of it went than this command may take.
    const std::uint64_t free = freeBytes(folder_);
    return free < scarce_bytes && free_at_start_ > free && free_at_start_ - free > *limits_.folder_bytes;
}

}  // namespace cuco
