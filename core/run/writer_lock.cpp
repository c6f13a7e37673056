// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/writer_lock.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace cuco {

namespace {

std::filesystem::path lockPath(const std::filesystem::path& run_file)
{
    // Two names of one file (a symbolic link) must meet at one lock.
    std::error_code ignored;
    std::filesystem::path path = std::filesystem::weakly_canonical(run_file, ignored);
    if (path.empty())
        path = run_file;
    path += "-lock";
    return path;
}

/// Of the open file description, not of the process: so two openings inside one program exclude each other too.
struct flock wholeFile()
{
    struct flock region {};
    region.l_type = F_WRLCK;
    region.l_whence = SEEK_SET;
    return region;
}

std::string holderOf(int fd)
{
    std::array<char, 32> text{};
    const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
    std::string digits;
    for (ssize_t i = 0; i < got && text[static_cast<std::size_t>(i)] >= '0' && text[static_cast<std::size_t>(i)] <= '9';
         ++i)
        digits += text[static_cast<std::size_t>(i)];
    return digits.empty() ? std::string() : fmt::format(" (pid {})", digits);
}

/// Whether the path still names the opened file: its last owner may have removed it between our open and our lock.
bool isCurrent(int fd, const std::filesystem::path& path)
{
    struct stat opened {
    }, named{};
    return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

}  // namespace

Result<WriterLock> WriterLock::acquire(const std::filesystem::path& run_file)
{
    const std::filesystem::path path = lockPath(run_file);
    for (;;) {
        UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
        if (!fd.open())
            return failure(fmt::format("The run cannot be opened for writing ({})", std::strerror(errno)),
                           path.parent_path().string(),
                           "Open it read-only, or copy it into a folder that you may write to.");
        struct flock region = wholeFile();
        if (::fcntl(fd.get(), F_OFD_SETLK, &region) != 0) {
            if (errno != EAGAIN && errno != EACCES)
                return failure(fmt::format("The run cannot be locked for writing ({})", std::strerror(errno)),
                               path.string(), "Copy it to a local disk and open it there.");
            return failure(fmt::format("The run is open in another program{}", holderOf(fd.get())), run_file.string(),
                           "Close it there, or open it read-only.");
        }
        if (!isCurrent(fd.get(), path))
            continue;
        const std::string pid = fmt::format("{}\n", ::getpid());
        if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) < 0)
            return failure(fmt::format("The run cannot be locked for writing ({})", std::strerror(errno)),
                           path.string(), "Free some disk space and try again.");
        return WriterLock(std::move(fd), path);
    }
}

bool WriterLock::isHeld(const std::filesystem::path& run_file)
{
    const UniqueFd fd(::open(lockPath(run_file).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd.open())
        return false;
    struct flock region = wholeFile();
    return ::fcntl(fd.get(), F_OFD_GETLK, &region) == 0 && region.l_type != F_UNLCK;
}

WriterLock::~WriterLock()
{
    // Removed while it is held, so that nobody can lose a lock on the same name.
    if (fd_.open())
        ::unlink(path_.c_str());
}

}  // namespace cuco
