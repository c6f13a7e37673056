// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/cache_folder.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace cuco {

namespace {

/// A folder that is there, is ours, and that nobody else can write.
Result<void> makePrivate(const std::filesystem::path& folder)
{
    std::error_code error;
    std::filesystem::create_directories(folder.parent_path(), error);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return failure(fmt::format("The folder cannot be made: {}.", std::strerror(errno)), folder.string(),
                       "Set XDG_CACHE_HOME to a folder that you can write.");
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
        return failure("The folder is not a folder of yours.", folder.string(),
                       "Set XDG_CACHE_HOME to a folder of your own.");
    if ((info.st_mode & 0077) != 0 && ::chmod(folder.c_str(), 0700) != 0)
        return failure("The folder cannot be made private.", folder.string(),
                       "Set XDG_CACHE_HOME to a folder of your own.");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return failure("The folder cannot be written.", folder.string(),
                       "Set XDG_CACHE_HOME to a folder that you can write.");
    return {};
}

std::optional<std::filesystem::path> absoluteFromEnvironment(const char* variable)
{
    const char* value = std::getenv(variable);
    if (value == nullptr || value[0] != '/')
        return std::nullopt;
    return value;
}

}  // namespace

Result<std::filesystem::path> cacheFolder()
{
    std::vector<std::filesystem::path> choices;
    if (const auto cache = absoluteFromEnvironment("XDG_CACHE_HOME"))
        choices.push_back(*cache / "cuco");
    if (const auto home = absoluteFromEnvironment("HOME"))
        choices.push_back(*home / ".cache" / "cuco");
    choices.push_back(absoluteFromEnvironment("TMPDIR").value_or("/tmp") / fmt::format("cuco-{}", ::geteuid()));
    Result<void> made;
    for (const auto& choice : choices) {
        made = makePrivate(choice);
        if (made)
            return choice;
    }
    return std::unexpected(made.error());
}

Result<std::filesystem::path> cacheFolder(const std::string& name)
{
    const auto root = cacheFolder();
    if (!root)
        return root;
    const auto folder = *root / name;
    if (auto made = makePrivate(folder); !made)
        return std::unexpected(made.error());
    return folder;
}

Result<FileLock> FileLock::acquire(const std::filesystem::path& file, std::stop_token stop)
{
    UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.open())
        return failure(fmt::format("The lock file cannot be opened: {}.", std::strerror(errno)), file.string(),
                       "Check the permissions of its folder.");
    while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return failure(fmt::format("The file cannot be locked: {}.", std::strerror(errno)), file.string(),
                           "Use a cache folder on a local file system (XDG_CACHE_HOME).");
        if (stop.stop_requested())
            return failure("Stopped while waiting for another process.", file.string());
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return FileLock(std::move(fd));
}

}  // namespace cuco
