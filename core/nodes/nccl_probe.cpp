// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/nccl_probe.h"

#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/base/unique_fd.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace cuco {

namespace {

using Version = std::array<int, 3>;

std::optional<Version> parseVersion(std::string_view text)
{
    Version version{};
    for (std::size_t i = 0; i < version.size(); ++i) {
        if (i > 0) {
            if (text.empty() || text.front() != '.')
                return std::nullopt;
            text.remove_prefix(1);
        }
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), version[i]);
        if (parsed.ec != std::errc() || version[i] < 0)
            return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    }
    return version;
}

std::string toText(const Version& version)
{
    return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

std::optional<int> defined(std::string_view text, std::string_view name)
{
    const std::string directive = fmt::format("#define {} ", name);
    const auto at = text.find(directive);
    if (at == std::string_view::npos)
        return std::nullopt;
    text.remove_prefix(at + directive.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    int value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
        return std::nullopt;
    return value;
}

/// The library is some 200 MB: read in pieces, each overlapping the one before by the longest match.
std::string versionInside(const std::filesystem::path& library)
{
    const UniqueFd file(::open(library.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open())
        return {};
    constexpr std::string_view mark = "NCCL version ";
    constexpr std::size_t overlap = 64;
    std::string piece(overlap + (4u << 20), '\0');
    std::size_t kept = 0;
    for (;;) {
        const ssize_t got = ::read(file.get(), piece.data() + kept, piece.size() - kept);
        if (got <= 0)
            return {};
        const std::string_view text(piece.data(), kept + static_cast<std::size_t>(got));
        for (auto at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1))
            if (const auto version = parseVersion(text.substr(at + mark.size())))
                return toText(*version);
        kept = std::min(overlap, text.size());
        std::memmove(piece.data(), text.data() + text.size() - kept, kept);
    }
}

/// The same file may be reached by several names.
void removeAliases(std::vector<std::filesystem::path>& files)
{
    std::vector<std::filesystem::path> kept, targets;
    for (const auto& file : files) {
        std::error_code error;
        const auto target = std::filesystem::canonical(file, error);
        if (error || std::ranges::find(targets, target) != targets.end())
            continue;
        targets.push_back(target);
        kept.push_back(file);
    }
    files = std::move(kept);
}

std::vector<std::filesystem::path> loaderLibraries(std::stop_token stop)
{
    auto program = findProgram("ldconfig");
    if (!program && std::filesystem::exists("/sbin/ldconfig"))
        program = "/sbin/ldconfig";  // not on the PATH of ordinary users
    if (!program)
        return {};
    Command command;
    command.argv = {program->string(), "-p"};
    command.working_directory = "/";
    command.environment = scrubbedEnvironment();
    command.limits.wall = std::chrono::seconds(10);
    const auto outcome = runCommand(command, stop);
    if (!outcome || !outcome->succeeded())
        return {};
    std::vector<std::filesystem::path> found;
    std::istringstream lines(outcome->out);
    for (std::string line; std::getline(lines, line);)
        if (const auto arrow = line.find("=> "); line.find("libnccl.so") != std::string::npos && arrow != line.npos)
            found.emplace_back(line.substr(arrow + 3));
    return found;
}

}  // namespace

std::string ncclHeaderVersion(std::string_view header_text)
{
    const auto major = defined(header_text, "NCCL_MAJOR");
    const auto minor = defined(header_text, "NCCL_MINOR");
    const auto patch = defined(header_text, "NCCL_PATCH");
    return major && minor && patch ? toText({*major, *minor, *patch}) : std::string();
}

std::string ncclLibraryVersion(const std::filesystem::path& library)
{
    std::error_code error;
    const auto target = std::filesystem::canonical(library, error);
    if (error)
        return {};
    const std::string name = target.filename().string();
    constexpr std::string_view prefix = "libnccl.so.";
    if (name.starts_with(prefix))
        if (const auto version = parseVersion(std::string_view(name).substr(prefix.size())))
            return toText(*version);
    return versionInside(target);
}

std::vector<NcclInstall> pairNccl(std::vector<std::filesystem::path> headers,
                                  std::vector<std::filesystem::path> libraries)
{
    removeAliases(headers);
    removeAliases(libraries);
    std::vector<std::string> library_versions;
    for (const auto& library : libraries)
        library_versions.push_back(ncclLibraryVersion(library));

    std::vector<NcclInstall> installs;
    std::vector<bool> paired(libraries.size(), false);
    for (const auto& header : headers) {
        NcclInstall install;
        install.header = header;
        if (const auto text = readFile(header))
            install.header_version = ncclHeaderVersion(*text);
        const auto same = std::ranges::find(library_versions, install.header_version);
        auto index = static_cast<std::size_t>(same - library_versions.begin());
        if (same == library_versions.end())
            index = 0;
        if (index < libraries.size()) {
            install.library = libraries[index];
            install.library_version = library_versions[index];
            paired[index] = true;
        }
        installs.push_back(std::move(install));
    }
    for (std::size_t i = 0; i < libraries.size(); ++i)
        if (!paired[i])
            installs.push_back({{}, libraries[i], {}, library_versions[i]});
    std::ranges::stable_sort(installs, [](const NcclInstall& a, const NcclInstall& b) {
        if (a.usable() != b.usable())
            return a.usable();
        return parseVersion(a.header_version) > parseVersion(b.header_version);
    });
    return installs;
}

std::vector<NcclInstall> findNccl(const std::optional<std::filesystem::path>& cuda_home, std::stop_token stop)
{
    std::vector<std::filesystem::path> prefixes;
    if (const char* home = std::getenv("NCCL_HOME"); home != nullptr && home[0] == '/')
        prefixes.emplace_back(home);
    if (cuda_home)
        prefixes.push_back(*cuda_home);
    prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});

    std::vector<std::filesystem::path> headers, libraries;
    for (const auto& prefix : prefixes) {
        if (const auto header = prefix / "include" / "nccl.h"; std::filesystem::exists(header))
            headers.push_back(header);
        for (const char* folder : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"})
            if (const auto library = prefix / folder / "libnccl.so.2"; std::filesystem::exists(library))
                libraries.push_back(library);
    }
    for (auto& library : loaderLibraries(stop))
        libraries.push_back(std::move(library));
    return pairNccl(std::move(headers), std::move(libraries));
}

}  // namespace cuco
