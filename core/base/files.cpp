// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"

#include "core/base/unique_fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace cuco {

namespace {

std::string reason(int error)
{
    return std::generic_category().message(error);
}

}  // namespace

Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t max_bytes)
{
    // O_NONBLOCK: opening a FIFO must not wait for a writer; it is refused below.
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file.open() || ::fstat(file.get(), &status) != 0) {
        return failure(fmt::format("The file cannot be read: {}.", reason(errno)), path.string());
    }
    if (!S_ISREG(status.st_mode)) {
        return failure("This is not a regular file.", path.string());
    }
    const auto too_large = [&] {
        return failure(fmt::format("The file is larger than the {} bytes allowed here.", max_bytes), path.string());
    };
    if (static_cast<std::uint64_t>(status.st_size) > max_bytes) {
        return too_large();
    }
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(status.st_size));
    std::vector<char> buffer(std::size_t{1} << 16);
    while (true) {
        const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            return failure(fmt::format("The file cannot be read: {}.", reason(errno)), path.string());
        }
        if (count == 0) {
            return bytes;
        }
        // The size above is only a hint: files under /proc say 0, and a file may grow meanwhile.
        if (bytes.size() + static_cast<std::size_t>(count) > max_bytes) {
            return too_large();
        }
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

Result<void> writeFileAtomically(const std::filesystem::path& path, std::string_view bytes)
{
    std::string temporary;
    UniqueFd file;
    for (int attempt = 0; attempt < 100 && !file.open(); ++attempt) {
        temporary = fmt::format("{}.{}-{}.new", path.string(), ::getpid(), attempt);
        file = UniqueFd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (!file.open() && errno != EEXIST) {
            break;
        }
    }
    if (!file.open()) {
        return failure(fmt::format("The file cannot be written: {}.", reason(errno)), path.string(),
                       "Check that the folder exists and may be written to.");
    }
    const auto give_up = [&](int error) {
        ::unlink(temporary.c_str());
        return failure(fmt::format("The file cannot be written: {}.", reason(error)), path.string());
    };
    while (!bytes.empty()) {
        const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return give_up(errno);
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    if (::fsync(file.get()) != 0) {
        return give_up(errno);
    }
    file.reset();
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return give_up(errno);
    }
    return {};
}

}  // namespace cuco
