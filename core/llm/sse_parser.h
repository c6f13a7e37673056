// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace cuco {

/// Server-sent events (WHATWG HTML, section 9.2), in pieces as they come.
/// Events that the end of the stream cuts off are dropped, as the standard
/// says.
class SseParser {
public:
    /// `data` is never empty. False ends the reading.
    using OnEvent = std::function<bool(std::string_view event, std::string_view data)>;

    explicit SseParser(OnEvent on_event) : on_event_(std::move(on_event)) {}
    /// False once on_event said so.
    bool feed(std::string_view piece);

private:
    bool line();

    OnEvent on_event_;
    std::string line_, event_, data_;
    bool after_cr_ = false, going_ = true;
};

}  // namespace cuco
