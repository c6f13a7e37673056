// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/line_diff.h"

#include "core/source/word_diff.h"

#include <fmt/format.h>
#include <git2.h>

#include <algorithm>
#include <memory>

namespace cuco {

namespace {

constexpr std::size_t max_bytes = std::size_t{64} << 20;
constexpr double paired_similarity = 0.5;
/// Pairs of lines in one run of changes that are compared with each other; beyond it lines pair by position.
constexpr std::size_t max_compared_pairs = 10'000;
/// Table cells for all words of one diff: about 20 ms.
constexpr std::int64_t word_budget = 16'000'000;

/// libgit2 counts its users; nothing of it is alive outside.
struct LibGit2 {
    LibGit2() { git_libgit2_init(); }
    ~LibGit2() { git_libgit2_shutdown(); }
    LibGit2(const LibGit2&) = delete;
    LibGit2& operator=(const LibGit2&) = delete;
};

using Patch = std::unique_ptr<git_patch, decltype(&git_patch_free)>;

std::unexpected<Error> gitFailure()
{
    const git_error* error = git_error_last();
    return failure(fmt::format("The texts cannot be compared: {}.", error ? error->message : "libgit2 gave no reason"));
}

Result<Patch> makePatch(std::string_view left, std::string_view right, unsigned context_lines, DiffOptions options)
{
    if (std::max(left.size(), right.size()) > max_bytes) {
        return failure(fmt::format("Texts of more than {} bytes are not compared.", max_bytes));
    }
    git_diff_options git_options;
    git_diff_options_init(&git_options, GIT_DIFF_OPTIONS_VERSION);
    git_options.context_lines = context_lines;
    git_options.interhunk_lines = 0;
    git_options.flags = GIT_DIFF_PATIENCE | GIT_DIFF_FORCE_TEXT;
    if (options.ignore_white_space) {
        git_options.flags |= GIT_DIFF_IGNORE_WHITESPACE;
    }
    git_patch* patch = nullptr;
    if (git_patch_from_buffers(&patch, left.data(), left.size(), nullptr, right.data(), right.size(), nullptr,
                               &git_options) != 0) {
        return gitFailure();
    }
    return Patch(patch, git_patch_free);
}

std::vector<std::string_view> linesOf(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t newline = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, newline);
        text.remove_prefix(std::min(newline + 1, text.size()));
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        lines.push_back(line);
    }
    return lines;
}

/// Turns the hunks of a patch into rows.
class RowBuilder {
public:
    RowBuilder(std::string_view left, std::string_view right, DiffOptions options)
        : left_(linesOf(left)), right_(linesOf(right)), options_(options)
    {
    }

    Result<LineDiff> build(git_patch* patch)
    {
        for (std::size_t i = 0; i < git_patch_num_hunks(patch); ++i) {
            const git_diff_hunk* hunk = nullptr;
            if (git_patch_get_hunk(&hunk, nullptr, patch, i) != 0) {
                return gitFailure();
            }
            // An empty side names the line before it.
            addEqualUpTo(static_cast<std::size_t>(hunk->old_start - (hunk->old_lines > 0 ? 1 : 0)));
            addChange(static_cast<std::size_t>(hunk->old_lines), static_cast<std::size_t>(hunk->new_lines));
        }
        addEqualUpTo(left_.size());
        for (int row = 0; row < static_cast<int>(diff_.rows.size()); ++row) {
            if (diff_.rows[static_cast<std::size_t>(row)].kind == DiffRowKind::equal) {
                continue;
            }
            if (!diff_.hunks.empty() && diff_.hunks.back().second == row - 1) {
                diff_.hunks.back().second = row;
            } else {
                diff_.hunks.emplace_back(row, row);
            }
        }
        return std::move(diff_);
    }

private:
    void addRow(DiffRowKind kind, bool has_left, bool has_right)
    {
        DiffRow row;
        row.kind = kind;
        if (has_left) {
            row.left = left_[left_at_++];
            row.left_line = static_cast<int>(left_at_);
        }
        if (has_right) {
            row.right = right_[right_at_++];
            row.right_line = static_cast<int>(right_at_);
        }
        diff_.rows.push_back(std::move(row));
    }

    void addEqualUpTo(std::size_t left_end)
    {
        while (left_at_ < std::min(left_end, left_.size()) && right_at_ < right_.size()) {
            addRow(DiffRowKind::equal, true, true);
        }
    }

    void addChange(std::size_t removed, std::size_t added)
    {
        diff_.removed += static_cast<int>(removed);
        diff_.added += static_cast<int>(added);
        std::vector<LineWords> left, right;
        for (std::size_t i = 0; i < removed; ++i) {
            left.push_back(splitWords(left_[left_at_ + i]));
        }
        for (std::size_t i = 0; i < added; ++i) {
            right.push_back(splitWords(right_[right_at_ + i]));
        }
        std::size_t left_done = 0, right_done = 0;
        const auto add_until = [&](std::size_t left_end, std::size_t right_end) {
            for (; left_done < left_end; ++left_done) {
                addRow(DiffRowKind::removed, true, false);
            }
            for (; right_done < right_end; ++right_done) {
                addRow(DiffRowKind::added, false, true);
            }
        };
        for (const auto& [i, j] :
             removed* added <= max_compared_pairs ? pairBySimilarity(left, right) : pairByPosition(left, right)) {
            add_until(i, j);
            addRow(DiffRowKind::changed, true, true);
            ++left_done, ++right_done;
            auto changes = changedWords(left[i], right[j], options_.ignore_white_space, budget_);
            diff_.rows.back().left_changes = std::move(changes.left);
            diff_.rows.back().right_changes = std::move(changes.right);
        }
        add_until(removed, added);
    }

    using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

    /// Pairs in order of lines with the greatest sum of similarities.
    static Pairs pairBySimilarity(const std::vector<LineWords>& left, const std::vector<LineWords>& right)
    {
        const std::size_t width = right.size() + 1;
        std::vector<double> best((left.size() + 1) * width);
        std::vector<double> similarities(left.size() * width);
        for (std::size_t i = left.size(); i-- > 0;) {
            for (std::size_t j = right.size(); j-- > 0;) {
                double& value = best[i * width + j];
                value = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
                const double similar = similarity(left[i], right[j]);
                if (similar >= paired_similarity) {
                    similarities[i * width + j] = similar;
                    value = std::max(value, best[(i + 1) * width + j + 1] + similar);
                }
            }
        }
        Pairs pairs;
        for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
            const double value = best[i * width + j], similar = similarities[i * width + j];
            if (similar > 0 && value == best[(i + 1) * width + j + 1] + similar) {
                pairs.emplace_back(i++, j++);
            } else {
                ++(value == best[(i + 1) * width + j] ? i : j);
            }
        }
        return pairs;
    }

    static Pairs pairByPosition(const std::vector<LineWords>& left, const std::vector<LineWords>& right)
    {
        Pairs pairs;
        for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
            if (similarity(left[i], right[i]) >= paired_similarity) {
                pairs.emplace_back(i, i);
            }
        }
        return pairs;
    }

    std::vector<std::string_view> left_, right_;
    DiffOptions options_;
    LineDiff diff_;
    std::size_t left_at_ = 0, right_at_ = 0;
    std::int64_t budget_ = word_budget;
};

std::string oneLine(std::string_view name)
{
    std::string line(name);
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return line;
}

}  // namespace

Result<LineDiff> diffLines(std::string_view left, std::string_view right, DiffOptions options)
{
    const LibGit2 library;
    const auto patch = makePatch(left, right, 0, options);
    if (!patch) {
        return std::unexpected(patch.error());
    }
    return RowBuilder(left, right, options).build(patch->get());
}

Result<std::string> unifiedDiff(std::string_view left, std::string_view right, std::string_view left_name,
                                std::string_view right_name)
{
    const LibGit2 library;
    const auto patch = makePatch(left, right, 3, {});
    if (!patch) {
        return std::unexpected(patch.error());
    }
    git_buf buffer = GIT_BUF_INIT;
    if (git_patch_to_buf(&buffer, patch->get()) != 0) {
        return gitFailure();
    }
    const std::string whole(buffer.ptr ? buffer.ptr : "", buffer.size);
    git_buf_dispose(&buffer);
    // libgit2's own header speaks of blobs and modes.
    const std::size_t first_hunk = whole.find("\n@@ ");
    if (first_hunk == std::string::npos) {
        return std::string();
    }
    return fmt::format("--- {}\n+++ {}{}", oneLine(left_name), oneLine(right_name), whole.substr(first_hunk));
}

}  // namespace cuco
