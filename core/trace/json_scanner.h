// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Reads a large JSON text once, front to back, and keeps nothing: the caller asks for what it knows and skips the
/// rest. After a fault every call returns false. What is skipped is checked for brackets and strings alone.
///
///     if (scan.enterObject())
///         while (scan.nextKey(key))
///             key == "ts" ? scan.readNumber(text) : scan.skip();
class JsonScanner {
public:
    explicit JsonScanner(std::string_view text) : text_(text) {}

    /// The first character of the next value, or NUL at the end.
    char peek();
    bool enterObject() { return enter('{'); }
    bool enterArray() { return enter('['); }
    /// False at the object's end, which it leaves. The view lives until the next call.
    bool nextKey(std::string_view& key);
    /// False at the array's end, which it leaves.
    bool nextElement();
    /// Decoded; the view lives until the next call.
    bool readString(std::string_view& value);
    /// As written: "12.5e3".
    bool readNumber(std::string_view& value);
    /// A string, a number, true, false or null as text.
    bool readScalar(std::string_view& value);
    bool skip();

    /// Nothing but white space is left.
    bool atEnd();
    bool failed() const { return fault_ != nullptr; }
    /// What is wrong, for the middle of a sentence; null while nothing is.
    const char* fault() const { return fault_; }
    bool truncated() const { return truncated_; }
    std::size_t position() const { return at_; }

private:
    bool enter(char bracket);
    /// At the next member of the innermost bracket; false at its end.
    bool nextMember(char closing);
    bool rawString(std::string_view& value, bool& has_escapes);
    bool fail(const char* fault);
    void skipSpace();

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<bool> has_members_;  ///< of each open bracket
    std::string decoded_;
    const char* fault_ = nullptr;
    bool truncated_ = false;
};

/// `value` times 1,000, in whole: microseconds as ns, exactly for up to three decimals. Nothing beyond ±2·10^18.
std::optional<std::int64_t> thousandfold(std::string_view decimal);

}  // namespace cuco
