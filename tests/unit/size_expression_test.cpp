// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/size_expression.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using testing::HasSubstr;

std::int64_t valueOf(const std::string& text)
{
    const auto expression = SizeExpression::parse(text);
    EXPECT_TRUE(expression.has_value()) << text << ": " << expression.error().what;
    const auto value = expression.value_or(SizeExpression()).evaluate({{"m", 10}, {"ranks", 4}, {"rank", 1}});
    EXPECT_TRUE(value.has_value()) << value.error().what;
    return value.value_or(-999);
}

std::string formFault(const std::string& text)
{
    const auto expression = SizeExpression::parse(text);
    EXPECT_FALSE(expression.has_value()) << text;
    return expression ? std::string() : expression.error().what;
}

std::string valueFault(const std::string& text)
{
    const auto value = SizeExpression::parse(text).value().evaluate({{"m", 10}});
    EXPECT_FALSE(value.has_value()) << text;
    return value ? std::string() : value.error().what;
}

TEST(SizeExpression, FollowsTheUsualPrecedence)
{
    EXPECT_EQ(valueOf("1 + 2 * 3"), 7);
    EXPECT_EQ(valueOf("(1 + 2) * 3"), 9);
    EXPECT_EQ(valueOf("10 - 3 - 2"), 5);
    EXPECT_EQ(valueOf("100 / 10 / 5 % 2"), 0);
    EXPECT_EQ(valueOf("-2 * -3"), 6);
    EXPECT_EQ(valueOf("1 + 1 < 3 * 1"), 1);
    EXPECT_EQ(valueOf("2*3==6"), 1);
    EXPECT_EQ(valueOf("(3 <= 2) + (3 != 2) + (3 >= 3) + (2 > 3)"), 2);
}

TEST(SizeExpression, KnowsNamesAndFunctions)
{
    EXPECT_EQ(valueOf("m / ranks + (rank < m % ranks)"), 3);
    EXPECT_EQ(valueOf("ceil_div(m, ranks)"), 3);
    EXPECT_EQ(valueOf("ceil_div(-m, ranks)"), -2);
    EXPECT_EQ(valueOf("ceil_div(8, 4)"), 2);
    EXPECT_EQ(valueOf("min(m, 3 + 4) + max( 1 , rank )"), 8);
    EXPECT_EQ(SizeExpression().evaluate({}).value(), 0);
    EXPECT_EQ(SizeExpression::parse(" m ").value().text(), " m ");
}

TEST(SizeExpression, RefusesBrokenForms)
{
    for (const char* text : {"", " ", "1 +", "(1", "1)", "1 2", "m n", "min(1)", "min(1,2,3)", "sqrt(4)", "1 < 2 < 3",
                             "0x10", "1.5", "9223372036854775808", "a.b", "m = 1", "$", "12m"}) {
        EXPECT_THAT(formFault(text), HasSubstr("The expression")) << text;
    }
    EXPECT_THAT(formFault("sqrt(4)"), HasSubstr("min, max and ceil_div"));
}

TEST(SizeExpression, RefusesDeepAndLongTexts)
{
    EXPECT_THAT(formFault(std::string(100, '(') + "1" + std::string(100, ')')), HasSubstr("nested too deeply"));
    EXPECT_THAT(formFault(std::string(900, '-') + "1"), HasSubstr("nested too deeply"));
    EXPECT_THAT(formFault(std::string(2000, ' ') + "1"), HasSubstr("at most"));
    EXPECT_EQ(valueOf(std::string(40, '(') + "1" + std::string(40, ')')), 1);
}

TEST(SizeExpression, RefusesWhatHasNoValue)
{
    EXPECT_THAT(valueFault("n"), HasSubstr("\"n\""));
    EXPECT_THAT(valueFault("1 / (m - 10)"), HasSubstr("divides by zero"));
    EXPECT_THAT(valueFault("1 % 0"), HasSubstr("divides by zero"));
    EXPECT_THAT(valueFault("ceil_div(1, 0)"), HasSubstr("divides by zero"));
    for (const char* text : {"9223372036854775807 + 1", "-9223372036854775807 - 2", "9223372036854775807 * m",
                             "(-9223372036854775807 - 1) / -1", "(-9223372036854775807 - 1) % -1",
                             "-(-9223372036854775807 - 1)", "ceil_div(-9223372036854775807 - 1, -1)"}) {
        EXPECT_THAT(valueFault(text), HasSubstr("overflows")) << text;
    }
}

}  // namespace
}  // namespace cuco
