// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/text_search.h"

#include <algorithm>
#include <cstring>

namespace cuco {

namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

char upper(char c)
{
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// How often a character is met in prose and code, the most frequent first.
constexpr std::string_view frequent = " etaoinsrlcdupmhf_gby.,()*;=v-/0x1k2w>:4\"3&[]+q86{}5<#zj79";

std::size_t rank(char c)
{
    return std::min(frequent.find(c), frequent.size());
}

/// Windows of text in which one form of the anchor is searched before the other, so that a rare upper-case letter
/// does not make each search run to the end of the text.
constexpr std::size_t window_bytes = 4096;

}  // namespace

TextSearch::TextSearch(std::string_view text) : lower_(text), upper_(text)
{
    std::ranges::transform(lower_, lower_.begin(), lower);
    std::ranges::transform(upper_, upper_.begin(), upper);
    for (std::size_t i = 1; i < lower_.size(); ++i)
        if (rank(lower_[i]) > rank(lower_[anchor_]))
            anchor_ = i;
}

bool TextSearch::matches(const char* at) const
{
    for (std::size_t i = 0; i < lower_.size(); ++i)
        if (at[i] != lower_[i] && at[i] != upper_[i])
            return false;
    return true;
}

std::size_t TextSearch::find(std::string_view in, std::size_t from) const
{
    if (lower_.empty() || in.size() < lower_.size())
        return lower_.empty() && from <= in.size() ? from : std::string_view::npos;
    const char forms[] = {lower_[anchor_], upper_[anchor_]};
    const std::size_t end = in.size() - lower_.size() + 1;  // of the places where it may begin
    for (std::size_t window = from; window < end; window += window_bytes) {
        const std::size_t window_end = std::min(window + window_bytes, end);
        std::size_t first = std::string_view::npos;
        for (int form = 0; form < (forms[0] == forms[1] ? 1 : 2); ++form) {
            const char* at = in.data() + window + anchor_;
            const char* const stop = in.data() + std::min(window_end, first) + anchor_;
            while (at < stop) {
                at = static_cast<const char*>(std::memchr(at, forms[form], static_cast<std::size_t>(stop - at)));
                if (!at)
                    break;
                if (matches(at - anchor_)) {
                    first = static_cast<std::size_t>(at - anchor_ - in.data());
                    break;
                }
                ++at;
            }
        }
        if (first != std::string_view::npos)
            return first;
    }
    return std::string_view::npos;
}

}  // namespace cuco
