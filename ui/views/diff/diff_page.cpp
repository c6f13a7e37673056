// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diff/diff_page.h"

#include "core/source/kernel_source.h"

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr int fewest_folded = 4;

/// Which lines of a text, counted from 1, lie in evolve blocks; none when its markers do not parse.
std::vector<bool> evolvableLines(const std::string& text)
{
    const auto source = KernelSource::parse(text);
    if (!source)
        return {};
    std::vector<bool> evolvable;
    for (const EvolveBlock& block : source->blocks()) {
        if (block.last_line < block.first_line)
            continue;
        if (evolvable.size() <= block.last_line)
            evolvable.resize(block.last_line + 1);
        std::fill(evolvable.begin() + static_cast<std::ptrdiff_t>(block.first_line),
                  evolvable.begin() + static_cast<std::ptrdiff_t>(block.last_line) + 1, true);
    }
    return evolvable;
}

bool at(const std::vector<bool>& flags, int line)
{
    return line > 0 && static_cast<std::size_t>(line) < flags.size() && flags[static_cast<std::size_t>(line)];
}

class PageBuilder {
public:
    PageBuilder(const DiffSide& left, const DiffSide& right, PageKind kind)
        : left_evolvable_(evolvableLines(left.text)), right_evolvable_(evolvableLines(right.text))
    {
        page_.kind = kind;
    }

    void addLeft(const DiffRow& row, DiffRowKind kind)
    {
        page_.lines.push_back({kind, row.left_line == 0, at(left_evolvable_, row.left_line), row.left_line, 0, row.left,
                               row.left_changes});
    }

    void addRight(const DiffRow& row, DiffRowKind kind)
    {
        page_.lines.push_back({kind, row.right_line == 0, at(right_evolvable_, row.right_line), 0, row.right_line,
                               row.right, row.right_changes});
    }

    void addBoth(const DiffRow& row)
    {
        addRight(row, DiffRowKind::equal);
        page_.lines.back().left_line = row.left_line;
    }

    DiffPage take(const DiffSide& left, const DiffSide& right)
    {
        findHunks();
        if (!page_.hunks.empty())
            findFolds(left, right);
        return std::move(page_);
    }

private:
    void findHunks()
    {
        for (int i = 0; i < static_cast<int>(page_.lines.size()); ++i) {
            if (page_.lines[static_cast<std::size_t>(i)].kind == DiffRowKind::equal)
                continue;
            if (!page_.hunks.empty() && page_.hunks.back().second == i - 1)
                page_.hunks.back().second = i;
            else
                page_.hunks.emplace_back(i, i);
        }
    }

    void findFolds(const DiffSide& left, const DiffSide& right);

    std::vector<bool> left_evolvable_, right_evolvable_;
    DiffPage page_;
};

void PageBuilder::findFolds(const DiffSide& left, const DiffSide& right)
{
    const int count = static_cast<int>(page_.lines.size());
    std::vector<bool> shown(page_.lines.size());
    shown[0] = true;  // the note that stands for hidden lines hangs on the line before them
    const auto showAround = [&](int first, int last) {
        for (int i = std::max(first - context_lines, 0); i <= std::min(last + context_lines, count - 1); ++i)
            shown[static_cast<std::size_t>(i)] = true;
    };
    for (const auto& [first, last] : page_.hunks)
        showAround(first, last);
    for (int i = 0; i < count; ++i) {
        const PageLine& line = page_.lines[static_cast<std::size_t>(i)];
        if (faultAt(left, line.left_line) || faultAt(right, line.right_line))
            showAround(i, i);
    }
    for (int first = 0; first < count;) {
        int end = first;
        while (end < count && !shown[static_cast<std::size_t>(end)])
            ++end;
        if (end - first >= fewest_folded)
            page_.folds.emplace_back(first, end - 1);
        first = std::max(end, first + 1);
    }
}

}  // namespace

const DiffFault* faultAt(const DiffSide& side, int line)
{
    for (const DiffFault& fault : side.faults)
        if (line > 0 && fault.line == line)
            return &fault;
    return nullptr;
}

DiffPage pageOf(const LineDiff& diff, const DiffSide& left, const DiffSide& right, PageKind kind)
{
    PageBuilder builder(left, right, kind);
    if (kind != PageKind::unified) {
        for (const DiffRow& row : diff.rows)
            kind == PageKind::left ? builder.addLeft(row, row.kind) : builder.addRight(row, row.kind);
        return builder.take(left, right);
    }
    for (std::size_t first = 0; first < diff.rows.size();) {
        std::size_t end = first;
        while (end < diff.rows.size() && diff.rows[end].kind != DiffRowKind::equal)
            ++end;
        if (end == first) {
            builder.addBoth(diff.rows[first++]);
            continue;
        }
        for (std::size_t i = first; i < end; ++i) {
            if (diff.rows[i].left_line != 0)
                builder.addLeft(diff.rows[i], DiffRowKind::removed);
        }
        for (std::size_t i = first; i < end; ++i) {
            if (diff.rows[i].right_line != 0)
                builder.addRight(diff.rows[i], DiffRowKind::added);
        }
        first = end;
    }
    return builder.take(left, right);
}

}  // namespace cuco::ui
