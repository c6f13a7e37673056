// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace cuco::cli {

namespace {

/// Code points, so that "µs" and "×" do not shift a column.
std::size_t displayWidth(const std::string& text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void printJson(const nlohmann::json& document)
{
    // Candidates' messages may hold bytes that are no UTF-8.
    const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    fmt::print("{}\n", text);
}

int reportError(const Error& error)
{
    fmt::print(stderr, "cucoctl: {}\n", describe(error));
    return exit_environment;
}

int reportUsage(const std::string& message)
{
    fmt::print(stderr, "cucoctl: {}\n", message);
    return exit_usage;
}

void printTable(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()), 0);
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], displayWidth(row[i]));
    }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size())
                line.append(widths[i] - displayWidth(row[i]) + 2, ' ');
        }
        fmt::print("{}\n", line);
    }
}

std::string formatTime(double us)
{
    if (!(us > 0))
        return "–";
    if (us < 1000)
        return fmt::format("{:.1f} µs", us);
    if (us < 1e6)
        return fmt::format("{:.3f} ms", us / 1e3);
    return fmt::format("{:.3f} s", us / 1e6);
}

std::string formatSpeedup(double speedup)
{
    return speedup > 0 ? fmt::format("{:.2f}×", speedup) : "–";
}

}  // namespace cuco::cli
