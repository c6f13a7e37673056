// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace cuco {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Error, IsDescribedInOneLine)
{
    EXPECT_EQ(describe({"The file cannot be read.", "a.cu", "Check its mode."}),
              "The file cannot be read (a.cu). Check its mode.");
    EXPECT_EQ(describe({"It broke", "", ""}), "It broke.");
    EXPECT_EQ(describe({"Two\nlines.", "", ""}), "Two lines.");
}

class Files : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "cuco-files-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    std::filesystem::path folder;
};

TEST_F(Files, AreReadAsTheyWereWritten)
{
    const std::string bytes("a\0b\r\n\xff", 6);
    ASSERT_TRUE(writeFileAtomically(folder / "f", "first").has_value());
    ASSERT_TRUE(writeFileAtomically(folder / "f", bytes).has_value());
    EXPECT_EQ(readFile(folder / "f").value(), bytes);
    // Nothing is left beside it.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(Files, AreRefusedWhenTooLargeMissingOrNotRegular)
{
    ASSERT_TRUE(writeFileAtomically(folder / "f", "12345").has_value());
    EXPECT_TRUE(readFile(folder / "f", 5).has_value());
    EXPECT_THAT(readFile(folder / "f", 4).error().what, HasSubstr("larger than the 4 bytes"));
    EXPECT_EQ(readFile(folder / "g").error().where, (folder / "g").string());
    EXPECT_FALSE(readFile(folder).has_value());
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_FALSE(readFile(folder / "pipe").has_value());
}

TEST_F(Files, CannotBeWrittenIntoAFolderThatIsNotThere)
{
    const auto written = writeFileAtomically(folder / "no" / "f", "x");
    ASSERT_FALSE(written.has_value());
    EXPECT_FALSE(written.error().remedy.empty());
}

TEST(JsonReader, ReadsTypedFields)
{
    const json object = json::parse(R"({"t":"x","b":true,"i":-3,"u":18446744073709551615,"d":1.5,"n":"nan",
                                        "list":[1,2],"map":{"m":4},"null":null})");
    std::string text;
    bool boolean = false;
    int integer = 0, kept = 9;
    std::uint64_t large = 0;
    double number = 0, nan = 0;
    std::vector<int> list;
    std::map<std::string, std::int64_t> map;
    std::optional<int> nothing, something;
    JsonReader reader(object, "f.json");
    reader.required("t", text).required("b", boolean).required("i", integer).required("u", large);
    reader.required("d", number).required("n", nan).required("list", list).required("map", map);
    reader.optional("absent", kept).optional("null", nothing).optional("i", something);
    ASSERT_TRUE(reader.finishKnowingAll().has_value());
    EXPECT_EQ(text, "x");
    EXPECT_TRUE(boolean);
    EXPECT_EQ(integer, -3);
    EXPECT_EQ(large, UINT64_MAX);
    EXPECT_EQ(number, 1.5);
    EXPECT_TRUE(std::isnan(nan));
    EXPECT_EQ(list, (std::vector{1, 2}));
    EXPECT_EQ(map.at("m"), 4);
    EXPECT_EQ(kept, 9);
    EXPECT_FALSE(nothing.has_value());
    EXPECT_EQ(something, -3);
}

TEST(JsonReader, NamesTheFirstFieldThatIsWrong)
{
    const json object = json::parse(R"({"a":"x","big":4294967296,"list":[1,"x"],"half":1.5})");
    const auto fault = [&](auto value, const char* name) {
        JsonReader reader(object, "f.json", "outer");
        std::string later;
        reader.required(name, value).required("absent", later);
        const auto done = reader.finish();
        return done ? std::string() : done.error().what;
    };
    EXPECT_THAT(fault(0, "a"), HasSubstr("\"outer.a\" must be a whole number"));
    EXPECT_THAT(fault(0, "big"), HasSubstr("\"outer.big\""));
    EXPECT_THAT(fault(0, "half"), HasSubstr("\"outer.half\""));
    EXPECT_THAT(fault(std::vector<int>(), "list"), HasSubstr("\"outer.list\" must be a list"));
    EXPECT_THAT(fault(std::string(), "missing"), HasSubstr("\"outer.missing\" is missing"));
}

TEST(JsonReader, CanRefuseFieldsThatNobodyAskedFor)
{
    const json object = json::parse(R"({"a":1,"typo":2})");
    int value = 0;
    JsonReader reader(object, "f.json");
    reader.required("a", value);
    EXPECT_TRUE(reader.finish().has_value());
    EXPECT_EQ(reader.finishKnowingAll().error().what, "The field \"typo\" is not known here.");
}

TEST(JsonReader, RefusesWhatIsNoObject)
{
    const json list = json::array();
    int value = 0;
    EXPECT_FALSE(JsonReader(list, "f.json").required("a", value).finish().has_value());
}

TEST(Json, ThatIsBrokenIsAnErrorWithItsPlace)
{
    EXPECT_THAT(parseJson("{\"a\":}", "f.json").error().what, HasSubstr("byte 6"));
    EXPECT_EQ(parseJson("{\"a\":}", "f.json").error().where, "f.json");
    EXPECT_FALSE(parseJson("[1e999]", "f").has_value());
    EXPECT_FALSE(parseJson("\"\xff\"", "f").has_value());
    EXPECT_FALSE(parseJson(std::string(200'000, '['), "f").has_value());
    EXPECT_TRUE(parseJson("{}", "f").has_value());
}

}  // namespace
}  // namespace cuco
