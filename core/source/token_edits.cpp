// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/token_edits.h"

#include <algorithm>
#include <utility>

namespace cuco {

void TokenEdits::insertBefore(const CudaToken& token, std::string text)
{
    edits_.push_back({token.begin, 0, std::move(text)});
}

void TokenEdits::insertAfter(const CudaToken& token, std::string text)
{
    edits_.push_back({token.begin + token.text.size(), 0, std::move(text)});
}

void TokenEdits::replace(const CudaToken& token, std::string text)
{
    edits_.push_back({token.begin, token.text.size(), std::move(text)});
}

std::string TokenEdits::apply() const
{
    auto ordered = edits_;
    std::ranges::stable_sort(ordered, {}, [](const Edit& edit) { return std::pair(edit.begin, edit.length); });
    std::string result;
    std::size_t at = 0;
    for (const auto& edit : ordered) {
        if (edit.begin > at)
            result += source_.substr(at, edit.begin - at);
        result += edit.text;
        at = std::max(at, edit.begin + edit.length);
    }
    result += source_.substr(std::min(at, source_.size()));
    return result;
}

}  // namespace cuco
