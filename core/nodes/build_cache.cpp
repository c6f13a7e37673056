// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/build_cache.h"

#include "core/base/files.h"
#include "core/nodes/cache_folder.h"
#include "core/source/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

namespace cuco {

namespace {

constexpr std::size_t shown_bytes = 2000;

Result<void> runOne(Node& node, const std::filesystem::path& folder, const std::vector<std::string>& argv,
                    std::stop_token stop)
{
    Command command;
    command.argv = argv;
    command.working_directory = folder;
    command.environment = {{"LC_ALL", "C"}};
    command.limits.wall = std::chrono::minutes(10);
    const auto outcome = node.run(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->cancelled)
        return failure("The build was stopped.", folder.string());
    if (outcome->succeeded())
        return {};
    const std::string& said = outcome->err.empty() ? outcome->out : outcome->err;
    return failure(outcome->timed_out ? "A part of the harness took too long to compile."
                                      : "A part of the harness does not compile on this node.",
                   fmt::format("{}\n{}", fmt::join(argv, " "), said.substr(0, shown_bytes)),
                   "Check that the compiler is complete (sudo apt install g++) and at least version 11.");
}

}  // namespace

void BuildInputs::add(const std::string& name, std::string_view bytes)
{
    hashes_.emplace_back(name, sha256Hex(bytes));
}

Result<void> BuildInputs::addFolder(const std::filesystem::path& folder)
{
    try {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (!entry.is_regular_file())
                continue;
            const auto text = readFile(entry.path());
            if (!text)
                return std::unexpected(text.error());
            add(entry.path().lexically_relative(folder.parent_path()).string(), *text);
        }
    } catch (const std::filesystem::filesystem_error& error) {
        return failure("A folder of the product's data cannot be read.", error.path1().string(),
                       "Install the product again, or set CUCO_DATA_DIR.");
    }
    return {};
}

std::string BuildInputs::key() const
{
    auto sorted = hashes_;
    std::ranges::sort(sorted);
    std::string text;
    for (const auto& [name, hash] : sorted)
        text += fmt::format("{} {} {}\n", name.size(), name, hash);
    return sha256Hex(text);
}

Result<std::vector<std::filesystem::path>> sourcesIn(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> sources;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (const auto extension = entry.path().extension(); extension == ".cpp" || extension == ".cu")
            sources.push_back(entry.path());
    if (error || sources.empty())
        return failure("A folder of the product's data has no sources.", folder.string(),
                       "Install the product again, or set CUCO_DATA_DIR.");
    std::ranges::sort(sources);
    return sources;
}

Result<std::vector<std::filesystem::path>> harnessSources(const std::filesystem::path& harness, const std::string& part)
{
    auto sources = sourcesIn(harness);
    if (!sources)
        return sources;
    const auto more = sourcesIn(harness / part);
    if (!more)
        return more;
    sources->insert(sources->end(), more->begin(), more->end());
    return sources;
}

Result<std::filesystem::path> cachedBuild(const std::string& kind, const std::string& key, std::stop_token stop,
                                          const std::function<Result<void>(const std::filesystem::path&)>& build)
{
    const auto root = cacheFolder(kind);
    if (!root)
        return root;
    const auto folder = *root / key;
    if (std::filesystem::is_directory(folder))
        return folder;
    const auto lock = FileLock::acquire(*root / (key + ".lock"), stop);
    if (!lock)
        return std::unexpected(lock.error());
    if (std::filesystem::is_directory(folder))
        return folder;
    // Under the lock, what a killed build left is nobody's.
    const auto unfinished = *root / (key + ".unfinished");
    std::error_code error;
    std::filesystem::remove_all(unfinished, error);
    if (!std::filesystem::create_directory(unfinished, error))
        return failure("A folder for the build cannot be made: " + error.message() + ".", unfinished.string(),
                       "Free some disk space, or set XDG_CACHE_HOME to another folder.");
    if (auto built = build(unfinished); !built) {
        std::filesystem::remove_all(unfinished, error);
        return std::unexpected(built.error());
    }
    std::filesystem::rename(unfinished, folder, error);
    if (error)
        return failure("The finished build cannot be moved: " + error.message() + ".", folder.string(),
                       "Check the permissions of its folder.");
    return folder;
}

Result<void> runBuild(Node& node, const std::filesystem::path& folder, std::vector<std::vector<std::string>> commands,
                      std::stop_token stop)
{
    std::stop_source others;
    const std::stop_callback forward(stop, [&others] { others.request_stop(); });
    std::mutex mutex;
    std::optional<Error> first_error;
    std::atomic<std::size_t> next{0};
    {
        std::vector<std::jthread> workers;
        const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
        for (std::size_t i = 0; i < std::min(cores, commands.size()); ++i)
            workers.emplace_back([&] {
                for (auto index = next++; index < commands.size(); index = next++) {
                    const auto done = runOne(node, folder, commands[index], others.get_token());
                    if (done)
                        continue;
                    const std::lock_guard guard(mutex);
                    if (!first_error)
                        first_error = done.error();
                    others.request_stop();
                    return;
                }
            });
    }
    if (first_error)
        return std::unexpected(*first_error);
    return {};
}

}  // namespace cuco
