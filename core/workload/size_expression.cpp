// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/size_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace cuco {

namespace {

constexpr std::size_t max_length = 1'000;
constexpr int max_depth = 50;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}
bool isWord(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || isDigit(c);
}

Result<std::int64_t> divide(std::int64_t a, std::int64_t b, bool remainder)
{
    if (b == 0) {
        return failure("divides by zero");
    }
    if (a == std::numeric_limits<std::int64_t>::min() && b == -1) {
        return failure("overflows 64 bits");
    }
    return remainder ? a % b : a / b;
}

Result<std::int64_t> apply(std::string_view operation, std::int64_t a, std::int64_t b)
{
    std::int64_t value = 0;
    const auto checked = [&](bool overflow) -> Result<std::int64_t> {
        return overflow ? Result<std::int64_t>(failure("overflows 64 bits")) : value;
    };
    if (operation == "+") {
        return checked(__builtin_add_overflow(a, b, &value));
    }
    if (operation == "-") {
        return checked(__builtin_sub_overflow(a, b, &value));
    }
    if (operation == "*") {
        return checked(__builtin_mul_overflow(a, b, &value));
    }
    if (operation == "/" || operation == "%") {
        return divide(a, b, operation == "%");
    }
    if (operation == "ceil_div") {
        const auto quotient = divide(a, b, false);
        const bool rounded_down = quotient && a % b != 0 && (a < 0) == (b < 0);
        return rounded_down ? *quotient + 1 : quotient;
    }
    return operation == "<"     ? a < b
           : operation == "<="  ? a <= b
           : operation == "=="  ? a == b
           : operation == "!="  ? a != b
           : operation == ">"   ? a > b
           : operation == ">="  ? a >= b
           : operation == "min" ? std::min(a, b)
                                : std::max(a, b);
}

/// comparison := sum [ <= sum ]; sum := product { + product }; product := factor { * factor };
/// factor := - factor | number | name | function ( comparison , comparison ) | ( comparison ).
/// Without values it only checks the form: every name is 1 and arithmetic faults do not count.
class ExpressionReader {
public:
    ExpressionReader(std::string_view text, const SizeValues* values) : rest_(text), values_(values) {}

    Result<std::int64_t> whole()
    {
        const std::int64_t value = comparison();
        skipBlanks();
        if (!rest_.empty()) {
            fail(fmt::format("has \"{}\" where an operator or its end should be", rest_.substr(0, 20)));
        }
        return fault_.empty() ? Result<std::int64_t>(value) : failure(fault_);
    }

private:
    void fail(std::string fault)
    {
        if (fault_.empty()) {
            fault_ = std::move(fault);
        }
        rest_ = {};
    }

    void skipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

    template <std::size_t N>
    std::string_view takeOneOf(const std::array<std::string_view, N>& operators)
    {
        skipBlanks();
        for (const std::string_view candidate : operators) {
            if (rest_.starts_with(candidate)) {
                rest_.remove_prefix(candidate.size());
                return candidate;
            }
        }
        return {};
    }

    bool take(std::string_view text) { return !takeOneOf(std::array{text}).empty(); }

    void expect(std::string_view text)
    {
        if (!take(text)) {
            fail(fmt::format("lacks a \"{}\"", text));
        }
    }

    std::int64_t combine(std::string_view operation, std::int64_t a, std::int64_t b)
    {
        if (!values_ || !fault_.empty()) {
            return 1;
        }
        auto value = apply(operation, a, b);
        if (!value) {
            fail(value.error().what);
        }
        return value.value_or(1);
    }

    std::int64_t comparison()
    {
        std::int64_t value = sum();
        // Longer operators first: "<" is a prefix of "<=".
        constexpr std::array<std::string_view, 6> operators{"<=", ">=", "==", "!=", "<", ">"};
        if (const auto operation = takeOneOf(operators); !operation.empty()) {
            value = combine(operation, value, sum());
        }
        return value;
    }

    std::int64_t sum()
    {
        std::int64_t value = product();
        constexpr std::array<std::string_view, 2> operators{"+", "-"};
        for (auto operation = takeOneOf(operators); !operation.empty(); operation = takeOneOf(operators)) {
            value = combine(operation, value, product());
        }
        return value;
    }

    std::int64_t product()
    {
        std::int64_t value = factor();
        constexpr std::array<std::string_view, 3> operators{"*", "/", "%"};
        for (auto operation = takeOneOf(operators); !operation.empty(); operation = takeOneOf(operators)) {
            value = combine(operation, value, factor());
        }
        return value;
    }

    std::int64_t factor()
    {
        if (++depth_ > max_depth) {
            fail("is nested too deeply");
        }
        skipBlanks();
        std::int64_t value = 1;
        if (!fault_.empty()) {
            // nothing more is read
        } else if (take("-")) {
            value = combine("-", 0, factor());
        } else if (take("(")) {
            value = comparison();
            expect(")");
        } else if (!rest_.empty() && isWord(rest_.front())) {
            value = numberNameOrFunction();
        } else {
            fail("lacks a number, a name or an opening parenthesis");
        }
        --depth_;
        return value;
    }

    std::int64_t numberNameOrFunction()
    {
        const auto length =
            static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), isWord) - rest_.begin());
        const std::string word(rest_.substr(0, length));
        rest_.remove_prefix(length);
        if (isDigit(word.front())) {
            std::int64_t value = 0;
            const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
            if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
                fail(fmt::format("has \"{}\", which is no number of 64 bits", word));
            }
            return value;
        }
        if (take("(")) {
            if (word != "min" && word != "max" && word != "ceil_div") {
                fail(fmt::format("calls \"{}\"; there are min, max and ceil_div", word));
            }
            const std::int64_t a = comparison();
            expect(",");
            const std::int64_t b = comparison();
            expect(")");
            return combine(word, a, b);
        }
        if (!values_) {
            return 1;
        }
        const auto found = values_->find(word);
        if (found == values_->end()) {
            fail(fmt::format("uses the name \"{}\", which has no value", word));
            return 1;
        }
        return found->second;
    }

    std::string_view rest_;
    const SizeValues* values_;
    std::string fault_;
    int depth_ = 0;
};

Result<std::int64_t> evaluateText(const std::string& text, const SizeValues* values)
{
    auto value = ExpressionReader(text, values).whole();
    if (!value) {
        value.error().what = fmt::format("The expression \"{}\" {}.", text, value.error().what);
    }
    return value;
}

}  // namespace

Result<SizeExpression> SizeExpression::parse(std::string text)
{
    if (text.size() > max_length) {
        return failure(fmt::format("An expression may have at most {} characters.", max_length));
    }
    if (auto value = evaluateText(text, nullptr); !value) {
        return std::unexpected(std::move(value.error()));
    }
    SizeExpression expression;
    expression.text_ = std::move(text);
    return expression;
}

Result<std::int64_t> SizeExpression::evaluate(const SizeValues& values) const
{
    return evaluateText(text_, &values);
}

}  // namespace cuco
