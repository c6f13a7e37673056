// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/job_store.h"

#include "core/base/unique_fd.h"
#include "core/nodes/cache_folder.h"
#include "core/nodes/node_findings.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace cuco {

namespace {

/// A program may have closed folders of its own to everybody.
void openFolders(const std::filesystem::path& folder, int levels)
{
    std::error_code error;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (levels > 0 && entry.symlink_status(error).type() == std::filesystem::file_type::directory)
            openFolders(entry.path(), levels - 1);
}

class OwnedFolder : public JobFolder {
public:
    explicit OwnedFolder(std::filesystem::path path) : path_(std::move(path)) {}
    ~OwnedFolder() override
    {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
        if (!error)
            return;
        openFolders(path_, 64);
        std::filesystem::remove_all(path_, error);  // what is left, the sweep removes
    }
    const std::filesystem::path& path() const override { return path_; }

private:
    std::filesystem::path path_;
};

Result<std::filesystem::path> pathInJob(const JobFolder& job, const std::string& file_name)
{
    if (file_name.empty() || file_name == "." || file_name == ".." || file_name.size() > 255 ||
        file_name.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
        return failure(fmt::format("\"{}\" is no file name.", file_name), job.path().string());
    return job.path() / file_name;
}

/// A folder's name begins with the process that made it: "<pid>-<random>".
bool isAbandoned(const std::filesystem::directory_entry& entry)
{
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || *parsed.ptr != '-' || pid <= 0)
        return false;
    std::error_code error;
    const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(error);
    return !error && age > std::chrono::days(1) && ::kill(pid, 0) != 0 && errno == ESRCH;
}

void sweep(const std::filesystem::path& jobs)
{
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(jobs, error))
        if (entry.is_directory(error) && isAbandoned(entry))
            std::filesystem::remove_all(entry.path(), error);
}

}  // namespace

Result<std::shared_ptr<JobFolder>> JobStore::createJob()
{
    const auto jobs = cacheFolder("jobs");
    if (!jobs)
        return std::unexpected(jobs.error());
    sweep(*jobs);
    std::string pattern = (*jobs / fmt::format("{}-XXXXXX", ::getpid())).string();
    if (::mkdtemp(pattern.data()) == nullptr)
        return failure(fmt::format("A job folder cannot be made: {}.", std::strerror(errno)), jobs->string(),
                       "Free some disk space, or set XDG_CACHE_HOME to another folder.");
    return std::make_shared<OwnedFolder>(pattern);
}

Result<void> JobStore::put(const JobFolder& job, const std::string& file_name, std::string_view bytes)
{
    const auto path = pathInJob(job, file_name);
    if (!path)
        return std::unexpected(path.error());
    std::error_code error;
    std::filesystem::remove_all(*path, error);
    const UniqueFd file(::open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    while (file.get() >= 0 && !bytes.empty()) {
        const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            break;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (file.get() < 0 || !bytes.empty())
        return failure(fmt::format("The file cannot be written: {}.", std::strerror(errno)), path->string(),
                       "Free some disk space, or set XDG_CACHE_HOME to another folder.");
    return {};
}

Result<std::string> JobStore::fetch(const JobFolder& job, const std::string& file_name, std::uint64_t max_bytes)
{
    const auto path = pathInJob(job, file_name);
    if (!path)
        return std::unexpected(path.error());
    // O_NONBLOCK: a FIFO under that name must not hold us.
    const UniqueFd file(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (file.get() < 0 || ::fstat(file.get(), &info) != 0)
        return failure(fmt::format("The file cannot be read: {}.", std::strerror(errno)), path->string());
    if (!S_ISREG(info.st_mode))
        return failure("It is no plain file.", path->string());
    if (static_cast<std::uint64_t>(info.st_size) > max_bytes)
        return failure(fmt::format("The file has {} bytes; at most {} are taken.", info.st_size, max_bytes),
                       path->string());
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failure(fmt::format("The file cannot be read: {}.", std::strerror(errno)), path->string());
        if (got == 0)
            break;
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
}

std::optional<std::uint64_t> JobStore::freeSpaceOf(const std::filesystem::path& folder)
{
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    return error ? std::nullopt : std::optional<std::uint64_t>(space.available);
}

Result<CommandOutcome> JobStore::run(Command command, std::stop_token stop)
{
    if (const auto cache = cacheFolder(); cache && command.working_directory.parent_path() == *cache / "jobs")
        if (const auto bytes = free_space_(command.working_directory))
            if (const auto findings = judgeSpace(*cache, *bytes); !findings.problems.empty())
                return std::unexpected(findings.problems.front());
    command.environment.merge(scrubbedEnvironment());
    return runCommand(command, stop);
}

std::vector<std::string> JobStore::sandbox(const JobFolder& job, bool gpus,
                                           const std::vector<std::filesystem::path>& readable, bool network) const
{
    const auto tool = sandbox_.tool();
    const auto cache = cacheFolder();
    if (!tool || !cache)
        return {};
    SandboxPolicy policy;
    policy.writable = job.path();
    policy.gpus = gpus;
    policy.network = network;
    policy.readable = readable;
    policy.readable.push_back(*cache);
    policy.hidden.push_back(*cache / "jobs");
    return sandboxPrefix(policy, *tool);
}

void JobStore::probe(NodeProbe& probe, std::stop_token stop) const
{
    if (const auto folder = cacheFolder()) {
        if (const auto bytes = free_space_(*folder))
            report(judgeSpace(*folder, *bytes), probe);
    } else {
        probe.problems.push_back(folder.error());
    }
    const auto tool = sandbox_.tool(stop);
    probe.sandboxed = tool.has_value();
    probe.sandbox_note = tool ? "bubblewrap " + tool->version : describe(tool.error());
}

}  // namespace cuco
