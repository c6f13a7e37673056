// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace cuco {

namespace {

/// Removed unless it was renamed.
class TemporarySibling {
public:
    explicit TemporarySibling(const std::filesystem::path& folder)
        : path_((folder.parent_path() / fmt::format(".{}.XXXXXX", folder.filename().string())).string())
    {
        made_ = ::mkdtemp(path_.data()) != nullptr;
    }
    ~TemporarySibling()
    {
        std::error_code ignored;
        if (made_)
            std::filesystem::remove_all(path_, ignored);
    }
    TemporarySibling(const TemporarySibling&) = delete;
    TemporarySibling& operator=(const TemporarySibling&) = delete;

    bool made() const { return made_; }
    std::filesystem::path path() const { return path_; }
    bool renameTo(const std::filesystem::path& folder)
    {
        // An empty folder gives way, another does not.
        if (::rename(path_.c_str(), folder.c_str()) != 0)
            return false;
        made_ = false;
        return true;
    }

private:
    std::string path_;
    bool made_ = false;
};

std::unexpected<Error> inTheWay(const std::filesystem::path& folder)
{
    return failure("There is already something at this place, and it is no empty folder", folder.string(),
                   "Choose another name, or remove what is there.");
}

std::unexpected<Error> cannotWrite(const std::filesystem::path& folder, int error)
{
    return failure(fmt::format("The folder cannot be written: {}.", std::generic_category().message(error)),
                   folder.string(), "Check that the folder above it exists and may be written to.");
}

bool leadsOut(const std::filesystem::path& name)
{
    return name.empty() || name.is_absolute() || std::ranges::find(name, "..") != name.end();
}

}  // namespace

Result<void> writeFolderAtomically(const std::filesystem::path& folder, const std::vector<FolderFile>& files)
{
    std::error_code error;
    std::filesystem::path target = std::filesystem::absolute(folder, error).lexically_normal();
    if (!target.has_filename())
        target = target.parent_path();
    const auto status = std::filesystem::symlink_status(target, error);
    if (std::filesystem::exists(status) &&
        !(std::filesystem::is_directory(status) && std::filesystem::is_empty(target, error)))
        return inTheWay(target);
    TemporarySibling unfinished(target);
    if (!unfinished.made())
        return cannotWrite(target, errno);
    using std::filesystem::perms;
    const perms of_folder =
        perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec;
    std::filesystem::permissions(unfinished.path(), of_folder, error);
    for (const FolderFile& file : files) {
        if (leadsOut(file.name))
            return failure(fmt::format("\"{}\" is no name of a file in a folder", file.name), target.string());
        const auto path = unfinished.path() / file.name;
        std::filesystem::create_directories(path.parent_path(), error);
        if (auto written = writeFileAtomically(path, file.bytes); !written)
            return written;
        if (file.executable)
            std::filesystem::permissions(path, perms::owner_exec | perms::group_exec | perms::others_exec,
                                         std::filesystem::perm_options::add, error);
    }
    if (!unfinished.renameTo(target))
        return errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR ? inTheWay(target)
                                                                         : cannotWrite(target, errno);
    return {};
}

}  // namespace cuco
