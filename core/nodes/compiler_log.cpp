// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/compiler_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace cuco {

namespace {

constexpr std::size_t max_log_bytes = 64u << 10;

void replaceAll(std::string& text, const std::string& from, const std::string& to)
{
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::vector<std::string_view> linesOf(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// The line number in "…file_name:12…" or "…file_name(12)…", 0 when there is none.
std::size_t lineNamed(std::string_view text, std::string_view file_name)
{
    for (auto at = text.find(file_name); at != text.npos; at = text.find(file_name, at + 1)) {
        const auto after = at + file_name.size();
        if (after >= text.size() || (text[after] != ':' && text[after] != '('))
            continue;
        std::size_t line = 0;
        if (std::from_chars(text.data() + after + 1, text.data() + text.size(), line).ec == std::errc())
            return line;
    }
    return 0;
}

/// The message behind "error: " on a compiler's error line, nothing on others.
std::string_view errorMessage(std::string_view line)
{
    for (const std::string_view mark : {": fatal error: ", ": error: ", ": catastrophic error: "})
        if (const auto at = line.find(mark); at != line.npos)
            return line.substr(at + mark.size());
    // nvcc: "candidate.cu(12): error #20: …"
    if (const auto at = line.find("): error "); at != line.npos)
        return line.substr(at + 3);
    return {};
}

}  // namespace

BuildFault readCompilerLog(std::string log, std::string_view file_name,
                           const std::map<std::filesystem::path, std::string>& shown_as)
{
    for (const auto& [folder, shown] : shown_as)
        replaceAll(log, folder.string() + "/", shown);

    BuildFault fault;
    const auto lines = linesOf(log);
    const auto first = std::ranges::find_if(lines, [](auto line) { return !errorMessage(line).empty(); });
    if (first != lines.end()) {
        fault.first_error = errorMessage(*first);
        fault.line = lineNamed(first->substr(0, first->find("error")), file_name);
        // An error in a header: GCC prints the way to it before, where a template was used before or after.
        for (auto before = first; fault.line == 0 && before != lines.begin();)
            fault.line = lineNamed(*--before, file_name);
        for (auto after = first; fault.line == 0 && after != lines.end(); ++after)
            fault.line = lineNamed(*after, file_name);
    } else {
        const auto said = std::ranges::find_if(lines, [](auto line) { return !line.empty(); });
        fault.first_error = said == lines.end() ? "The compiler failed without a message." : std::string(*said);
    }
    if (log.size() > max_log_bytes) {
        const auto dropped = log.size() - max_log_bytes;
        log.resize(max_log_bytes);
        log += fmt::format("\n… {} more bytes\n", dropped);
    }
    fault.log = std::move(log);
    return fault;
}

}  // namespace cuco
