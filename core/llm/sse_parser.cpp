// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/sse_parser.h"

namespace cuco {

bool SseParser::line()
{
    bool go_on = true;
    if (line_.empty()) {
        if (!data_.empty()) {
            data_.pop_back();  // the line feed behind the last line
            if (!data_.empty())
                go_on = on_event_(event_, data_);
        }
        data_.clear();
        event_.clear();
        return go_on;
    }
    const std::string_view text = line_;
    const std::string_view field = text.substr(0, text.find(':'));
    std::string_view value = field.size() < text.size() ? text.substr(field.size() + 1) : std::string_view();
    if (value.starts_with(' '))
        value.remove_prefix(1);
    if (field == "data")
        data_.append(value).push_back('\n');
    else if (field == "event")
        event_ = value;
    line_.clear();
    return true;
}

bool SseParser::feed(std::string_view piece)
{
    while (going_ && !piece.empty()) {
        if (after_cr_ && piece.front() == '\n') {
            after_cr_ = false;
            piece.remove_prefix(1);
            continue;
        }
        after_cr_ = false;
        const std::size_t end = piece.find_first_of("\r\n");
        line_.append(piece.substr(0, end));
        if (end == std::string_view::npos)
            break;
        after_cr_ = piece[end] == '\r';
        piece.remove_prefix(end + 1);
        going_ = line();
    }
    return going_;
}

}  // namespace cuco
