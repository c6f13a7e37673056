// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workloads/harness/compare.h"
#include "workloads/harness/gpu/departure.h"
#include "workloads/harness/gpu/rounds.h"
#include "workloads/harness/job.h"
#include "workloads/harness/layout.h"
#include "workloads/harness/report.h"
#include "workloads/harness/wire.h"

#include <gmock/gmock.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace cuco_harness {
namespace {

using testing::HasSubstr;

const std::string whole_job = R"(cuco-job 1
candidate candidate.so
reference /tmp/a folder/reference.so
ranks 2
limit 30
tolerance 0.01 0.05

shape odd 37 43
seed 18446744073709551615
scale 32768 1024
buffer in a bf16 19 18
buffer out c f32 1591 1590
iterations 3
warmup 1
dump 1
time 0
trace 1
skew 7
)";

std::string errorOf(const std::string& text)
{
    std::string error;
    EXPECT_FALSE(parseJob(text, "/job/", error).has_value());
    return error;
}

std::string with(const std::string& from, const std::string& to)
{
    std::string text = whole_job;
    return text.replace(text.find(from), from.size(), to);
}

TEST(HarnessJob, ReadsEveryDirective)
{
    std::string error;
    const auto job = parseJob(whole_job, "/job/", error);
    ASSERT_TRUE(job) << error;
    EXPECT_EQ(job->reference, "/tmp/a folder/reference.so");
    EXPECT_EQ(job->ranks, 2);
    EXPECT_EQ(job->limit_s, 30);
    EXPECT_DOUBLE_EQ(job->max_error, 0.05);
    ASSERT_EQ(job->shapes.size(), 1u);
    const auto& shape = job->shapes[0];
    EXPECT_EQ(shape.parameters, (std::vector<int64_t>{37, 43}));
    EXPECT_EQ(shape.seed, std::numeric_limits<uint64_t>::max());
    EXPECT_DOUBLE_EQ(shape.flop_factor, 32768);
    EXPECT_EQ(shape.iterations, 3);
    EXPECT_TRUE(shape.dump);
    EXPECT_FALSE(shape.time);
    EXPECT_TRUE(shape.trace);
    EXPECT_EQ(shape.skew_seed, 7u);
    ASSERT_EQ(shape.outputs.size(), 1u);
    EXPECT_EQ(shape.outputs[0].bytes(1), 1590u * 4);
    EXPECT_EQ(shape.outputs[0].largestBytes(), 1591u * 4);
    EXPECT_EQ(job->dumpPath(shape, 2, 1, shape.outputs[0]), "/job//out.odd.2.1.c.bin");
}

TEST(HarnessJob, NamesTheLineThatIsWrong)
{
    EXPECT_THAT(errorOf(with("cuco-job 1", "cuco-job 2")), HasSubstr("Line 1 "));
    EXPECT_THAT(errorOf(with("ranks 2", "ranks 65")), HasSubstr("Line 4 "));
    EXPECT_THAT(errorOf(with("f32 1591", "f33 1591")), HasSubstr("f33"));
    EXPECT_THAT(errorOf(with("1591 1590", "1591")), HasSubstr("Line 12 "));
    EXPECT_THAT(errorOf(with("1591 1590", "1591 -1")), HasSubstr("-1"));
    EXPECT_THAT(errorOf(with("dump 1", "dump 2")), HasSubstr("0 or 1"));
    EXPECT_THAT(errorOf(with("skew 7", "skew -7")), HasSubstr("skew"));
    EXPECT_THAT(errorOf(with("scale 32768", "scale nan")), HasSubstr("scale"));
    EXPECT_THAT(errorOf(with("trace 1", "colour 1")), HasSubstr("unknown"));
}

TEST(HarnessJob, RefusesNamesThatLeaveItsFolder)
{
    EXPECT_THAT(errorOf(with("out c ", "out ../c ")), HasSubstr("Line 12 "));
    EXPECT_THAT(errorOf(with("shape odd", "shape ..")), HasSubstr("Line 8 "));
    EXPECT_THAT(errorOf(with("shape odd", "shape a/b")), HasSubstr("Line 8 "));
}

TEST(HarnessJob, RefusesWhatIsIncomplete)
{
    EXPECT_THAT(errorOf(""), HasSubstr("empty"));
    EXPECT_THAT(errorOf("cuco-job 1\nranks 2\n"), HasSubstr("no shape"));
    EXPECT_THAT(errorOf("cuco-job 1\nranks 2\nshape a 1\n"), HasSubstr("no output"));
    EXPECT_THAT(errorOf("cuco-job 1\nshape a 1\n"), HasSubstr("ranks"));
    EXPECT_THAT(errorOf(whole_job + "shape odd 1\n"), HasSubstr("twice"));
}

TEST(HarnessJob, SpreadsItsRanksOverHosts)
{
    std::string error;
    const auto job =
        parseJob(with("limit 30",
                      "limit 30\nhost 1 gpu-a\nhost 1 gpu-b.cluster\nlaunch /opt/my mpi/mpirun\nlaunch -np\nlaunch 2"),
                 "/job/", error);
    ASSERT_TRUE(job) << error;
    ASSERT_EQ(job->hosts.size(), 2u);
    EXPECT_EQ(job->hosts[1].ranks, 1);
    EXPECT_EQ(job->hosts[1].name, "gpu-b.cluster");
    EXPECT_EQ(job->launch, (std::vector<std::string>{"/opt/my mpi/mpirun", "-np", "2"}));
    EXPECT_EQ(parseJob(job->text, "/job/", error)->hosts.size(), 2u) << "other hosts read the same text";
    EXPECT_THAT(errorOf(with("limit 30", "host 2 a\nhost 1 b\nlaunch mpirun")), HasSubstr("other than all ranks"));
    EXPECT_THAT(errorOf(with("limit 30", "host 2 a")), HasSubstr("come together"));
    EXPECT_THAT(errorOf(with("limit 30", "launch mpirun")), HasSubstr("come together"));
    EXPECT_THAT(errorOf(with("limit 30", "host 0 a\nlaunch mpirun")), HasSubstr("at least 1"));
    EXPECT_THAT(errorOf(with("limit 30", "host 2\nlaunch mpirun")), HasSubstr("its name"));
}

TEST(HarnessJob, SurvivesDamagedText)
{
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
        std::string text = whole_job, error;
        for (int i = 0; i < 4; ++i)
            text[random() % text.size()] = char(random() % 256);
        const bool accepted = parseJob(text, "/job/", error).has_value();
        EXPECT_NE(accepted, !error.empty());
    }
}

TEST(HarnessReport, WritesJsonWhateverTheTextHolds)
{
    EXPECT_EQ(ReportLine("x").add("text", "a\"b\\c\n\xff").text(), R"({"event":"x","text":"a\"b\\c\u000a\u00ff"})");
    EXPECT_EQ(ReportLine("x").add("v", std::vector<double>{1.5, std::nan("")}).add("yes", true).text(),
              R"({"event":"x","v":[1.5,"nan"],"yes":true})");
}

TEST(HarnessReport, LeavesOutTheRankWhenNoOneRankFailed)
{
    Failure failure;
    failure.kind = "timeout";
    EXPECT_THAT(failure.toLine().text(), testing::Not(HasSubstr("rank")));
    failure.rank = 0;
    EXPECT_THAT(failure.toLine().text(), HasSubstr("\"rank\":0"));
}

std::vector<char> bytesOfFloats(const std::vector<float>& values)
{
    std::vector<char> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

Comparison comparison(const std::vector<float>& got)
{
    return compare(bytesOfFloats(got), ElementType::f32, {1, -2, 3, 0.5f}, 0.005, 0.05);
}

TEST(Comparison, PassesWhatIsRight)
{
    EXPECT_TRUE(comparison({1, -2, 3, 0.5f}).right(0.005, 0.05));
}

TEST(Comparison, NeverPassesWhatIsNoNumber)
{
    for (const float value : {std::nanf(""), INFINITY, -INFINITY}) {
        const auto result = comparison({1, -2, value, 0.5f});
        EXPECT_FALSE(result.right(0.005, 0.05));
        EXPECT_FALSE(result.right(INFINITY, INFINITY));
        EXPECT_EQ(result.element, 2);
        EXPECT_EQ(result.wrong_elements, 1);
        EXPECT_EQ(result.expected, 3);
    }
}

TEST(Comparison, GivesAnElementOfManyTimesTheMeanTheRoundingOfItsSize)
{
    std::vector<float> reference(1000, 0.1f);
    reference[7] = 20;  // the root mean square is 0.64
    auto got = reference;
    got[7] = 20.08f;
    EXPECT_TRUE(compare(bytesOfFloats(got), ElementType::f32, reference, 0.005, 0.05).right(0.005, 0.05));
    got = reference;
    got[8] = 0.18f;
    EXPECT_FALSE(compare(bytesOfFloats(got), ElementType::f32, reference, 0.005, 0.05).right(0.005, 0.05));
}

TEST(Comparison, NamesTheFirstWrongElement)
{
    const auto result = comparison({1, -1, 3, 0});
    EXPECT_EQ(result.element, 1);
    EXPECT_EQ(result.got, -1);
    EXPECT_EQ(result.wrong_elements, 2);
    EXPECT_EQ(result.elements, 4);
}

TEST(Comparison, NamesTheWorstElementWhenOnlyTheNormIsOff)
{
    const auto result = comparison({1, -2, 3, 0.52f});
    EXPECT_FALSE(result.right(0.005, 0.05));
    EXPECT_EQ(result.wrong_elements, 0);
    EXPECT_EQ(result.element, 3);
}

TEST(Comparison, ReadsEveryElementType)
{
    const auto at = [](ElementType type, auto value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        return elementAt(bytes, type, 0);
    };
    EXPECT_EQ(at(ElementType::bf16, uint16_t(0xc000)), -2);
    EXPECT_EQ(at(ElementType::f16, uint16_t(0x3c00)), 1);
    EXPECT_EQ(at(ElementType::f16, uint16_t(0x0001)), std::ldexp(1, -24));
    EXPECT_EQ(at(ElementType::f16, uint16_t(0xfc00)), -INFINITY);
    EXPECT_EQ(at(ElementType::i32, int32_t(-5)), -5);
    for (const auto type : {ElementType::bf16, ElementType::f16, ElementType::f32})
        EXPECT_TRUE(std::isnan(at(type, uint32_t(0xffffffff)))) << "poison must be no number";
}

TEST(Messages, ArriveWholeHoweverTheyAreCut)
{
    const std::string all = packed('A', "first") + packed('B', "") + packed('C', std::string(1000, 'x'));
    std::string received, kinds;
    Message message;
    bool broken = false;
    for (const char c : all) {
        received += c;
        while (takeMessage(received, message, broken))
            kinds += message.kind;
        ASSERT_FALSE(broken);
    }
    EXPECT_EQ(kinds, "ABC");
    EXPECT_EQ(message.bytes.size(), 1000u);
    EXPECT_TRUE(received.empty());
}

TEST(Messages, RefuseALengthThatNobodySends)
{
    std::string received("G\xff\xff\xff\xff", 5);
    Message message;
    bool broken = false;
    EXPECT_FALSE(takeMessage(received, message, broken));
    EXPECT_TRUE(broken);
}

TEST(Messages, KeepNoMoreDescriptorsThanTheReceiverWants)
{
    Channel mine, theirs;
    ASSERT_TRUE(Channel::makePair(mine, theirs));
    const std::vector<int> many(100, STDIN_FILENO);
    const auto arrived = [&] {
        Message message;
        EXPECT_TRUE(mine.send('A', "", many));
        EXPECT_TRUE(theirs.receive(message));
        int count = 0;
        for (int descriptor; (descriptor = theirs.takeDescriptor()) >= 0; ++count)
            close(descriptor);
        return count;
    };
    EXPECT_EQ(arrived(), 8);
    theirs.keepDescriptors(96);
    EXPECT_EQ(arrived(), 96);
    EXPECT_FALSE(mine.send('A', "", std::vector<int>(193, STDIN_FILENO)));
}

TEST(Messages, BringTheirDescriptorsAlong)
{
    Channel mine, theirs;
    ASSERT_TRUE(Channel::makePair(mine, theirs));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    Message message;
    EXPECT_EQ(theirs.poll(message), Channel::Arrival::nothing);
    ASSERT_TRUE(mine.send('A', Packer().number(int64_t(-7)).number(1.5).text("all").bytes(), {ends[1]}));
    close(ends[1]);
    ASSERT_TRUE(theirs.receive(message));
    Unpacker fields(message.bytes);
    EXPECT_EQ(fields.number(), -7);
    EXPECT_EQ(fields.real(), 1.5);
    EXPECT_EQ(fields.text(), "all");
    EXPECT_TRUE(fields.ok());
    EXPECT_EQ(fields.number(), 0);
    EXPECT_FALSE(fields.ok());
    const int received = theirs.takeDescriptor();
    ASSERT_GE(received, 0);
    EXPECT_EQ(theirs.takeDescriptor(), -1);
    ASSERT_EQ(write(received, "x", 1), 1);
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'x');
    close(received);
    close(ends[0]);
    mine.close();
    EXPECT_EQ(theirs.poll(message), Channel::Arrival::gone);
}

TEST(Messages, RefuseATextThatClaimsMoreThanThereIs)
{
    const std::string bytes = Packer().number(int64_t(1) << 40).bytes() + "abc";
    Unpacker fields(bytes);
    EXPECT_EQ(fields.text(), "");
    EXPECT_FALSE(fields.ok());
    const std::string negative = Packer().number(int64_t(-1)).bytes();
    Unpacker others(negative);
    EXPECT_EQ(others.text(), "");
    EXPECT_FALSE(others.ok());
}

TEST(Layout, PutsAGuardZoneAroundEveryBufferAndLooksTheSameOnAllRanks)
{
    std::string error;
    const auto job = parseJob(whole_job, "/job/", error);
    ASSERT_TRUE(job) << error;
    const ShapeJob& shape = job->shapes[0];
    const BufferLayout first = layOut(shape, 0, 3), second = layOut(shape, 1, 3);
    EXPECT_EQ(first.outputs, second.outputs);
    EXPECT_EQ(first.output_bytes, second.output_bytes);
    for (const int rank : {0, 1}) {
        const BufferLayout layout = layOut(shape, rank, 3);
        std::vector<int> outputs(layout.output_bytes, 0), inputs(layout.input_bytes, 0);
        const auto mark = [](std::vector<int>& region, size_t begin, size_t bytes) {
            for (size_t i = begin; i < begin + bytes; ++i)
                ++region.at(i);
        };
        for (size_t set = 0; set < 3; ++set) {
            mark(outputs, layout.outputs[set][0], shape.outputs[0].bytes(rank));
            mark(inputs, layout.inputs[set][0], shape.inputs[0].bytes(rank));
        }
        for (const auto& gap : layout.gaps)
            mark(gap.in_outputs ? outputs : inputs, gap.begin, gap.bytes);
        EXPECT_THAT(outputs, testing::Each(1)) << "every byte is a buffer's or a guard zone's";
        EXPECT_THAT(inputs, testing::Each(1));
        EXPECT_EQ(layout.inputs[1][0] % 256, 0u);
    }
}

TEST(HarnessJob, ReadsTheProgramsThatTakeTurns)
{
    std::string error;
    const auto job =
        parseJob(with("limit 30\n", "limit 30\nbaseline host /a folder/host.so\nunchecked alone a.so\nrates 1\n") +
                     "rounds 10\nconsecutive 3\nagainst host\n",
                 "/job/", error);
    ASSERT_TRUE(job) << error;
    ASSERT_EQ(job->baselines.size(), 2u);
    EXPECT_EQ(job->baselines[0].path, "/a folder/host.so");
    EXPECT_TRUE(job->baselines[0].checked);
    EXPECT_FALSE(job->baselines[1].checked);
    EXPECT_TRUE(job->rates);
    EXPECT_EQ(job->shapes[0].rounds, 10);
    EXPECT_EQ(job->shapes[0].least_rounds, 10);
    EXPECT_EQ(job->shapes[0].consecutive, 3);
    EXPECT_EQ(job->shapes[0].against, std::vector<std::string>{"host"});
    EXPECT_THAT(errorOf(whole_job + "against nobody\n"), HasSubstr("no baseline"));
    EXPECT_THAT(errorOf(with("limit 30\n", "baseline a x\nbaseline a y\n")), HasSubstr("comes twice"));
}

TEST(HarnessJob, ReadsHowManyRoundsThereAreAtMostAndAtLeast)
{
    std::string error;
    const auto job = parseJob(std::string(whole_job) + "rounds 12 6\n", "/job/", error);
    ASSERT_TRUE(job) << error;
    EXPECT_EQ(job->shapes[0].rounds, 12);
    EXPECT_EQ(job->shapes[0].least_rounds, 6);
    EXPECT_THAT(errorOf(std::string(whole_job) + "rounds 6 12\n"), HasSubstr("at most"));
    EXPECT_THAT(errorOf(std::string(whole_job) + "rounds\n"), HasSubstr("at most"));
}

TEST(HarnessJob, ReadsTheTracedProgramAndItsRanksEnvironment)
{
    std::string error;
    const auto job = parseJob(
        with("limit 30\n",
             "limit 30\ntraced a folder/profiled.so\ntraced_variable CUDA_INJECTION64_PATH /a folder/lib.so\n"),
        "/job/", error);
    ASSERT_TRUE(job) << error;
    EXPECT_EQ(job->traced.path, "a folder/profiled.so");
    ASSERT_EQ(job->traced.variables.size(), 1u);
    EXPECT_EQ(job->traced.variables[0],
              std::make_pair(std::string("CUDA_INJECTION64_PATH"), std::string("/a folder/lib.so")));
    EXPECT_THAT(errorOf(with("limit 30\n", "traced a\ntraced b\n")), HasSubstr("once"));
    EXPECT_THAT(errorOf(with("limit 30\n", "traced_variable NAME\n")), HasSubstr("a value"));
}

TEST(HarnessRounds, TellHowWellTheRatioOfTwoProgramsIsKnown)
{
    const auto widthOf = [](double deviation, int rounds) {
        std::mt19937_64 random(7);
        std::normal_distribution<double> noise(0, deviation);
        std::vector<double> ours, theirs;
        for (int i = 0; i < 2 * rounds; ++i) {
            ours.push_back(200 * std::exp(noise(random)));
            theirs.push_back(100 * std::exp(noise(random)));
        }
        const RoundsRatio ratio = ratioOfRounds(ours, theirs, 2);
        EXPECT_NEAR(ratio.value, 2, 4 * deviation);
        EXPECT_LE(ratio.low, ratio.value);
        EXPECT_GE(ratio.high, ratio.value);
        return std::log(ratio.high / ratio.low) / 2;
    };
    EXPECT_LT(widthOf(0.002, 6), 0.01);
    EXPECT_GT(widthOf(0.05, 6), 0.01);
    EXPECT_LT(widthOf(0.02, 12), widthOf(0.02, 6));
    EXPECT_TRUE(std::isinf(ratioOfRounds({1, 1}, {1, 1}, 2).high)) << "one round tells nothing";
}

TEST(Departure, IsWaitedForAsLongAsProcessesLeave)
{
    Departure departure(3);
    EXPECT_TRUE(departure.goesOn(40));
    EXPECT_TRUE(departure.goesOn(40));
    EXPECT_TRUE(departure.goesOn(40));
    EXPECT_TRUE(departure.goesOn(12)) << "many need longer than three looks";
    EXPECT_TRUE(departure.goesOn(12));
    EXPECT_TRUE(departure.goesOn(12));
    EXPECT_TRUE(departure.goesOn(1));
    EXPECT_FALSE(departure.goesOn(0));
}

TEST(Departure, IsNotWaitedForWhenSomebodyElseStaysOrComes)
{
    Departure departure(3);
    EXPECT_TRUE(departure.goesOn(2));
    EXPECT_TRUE(departure.goesOn(2));
    EXPECT_TRUE(departure.goesOn(3));
    EXPECT_FALSE(departure.goesOn(2));
}

}  // namespace
}  // namespace cuco_harness
