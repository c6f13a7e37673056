// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/emulation_rewriter.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace cuco {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Without the leading #line directive.
std::string rewritten(const std::string& source)
{
    const auto result = rewriteForEmulation(source, "k.cu");
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    return result ? result->substr(result->find('\n') + 1) : "";
}

SourceFault faultOf(const std::string& source)
{
    const auto result = rewriteForEmulation(source, "k.cu");
    EXPECT_FALSE(result.has_value()) << source;
    return result ? SourceFault{} : result.error();
}

std::string launchOf(const std::string& callee, const std::string& name, const std::string& configuration,
                     const std::string& arguments)
{
    return "::cuco_emu::launch(" + name + ", [=](auto&... cuco_emu_a) { " + callee +
           "(cuco_emu_a...); }, ::cuco_emu::LaunchConfig(" + configuration + ")" + arguments + ");";
}

TEST(EmulationRewriter, NamesTheFileAndKeepsEveryTokenOnItsLine)
{
    const std::string source =
        "int a;\n\n"
        "void f() {\n"
        "  k<<<grid,\n"
        "      block>>>(\n"
        "      x,\n"
        "      y);\n"
        "  __shared__ float\n"
        "      tile[4];\n"
        "  last();\n"
        "}\n";
    const auto result = rewriteForEmulation(source, "dir/\"k\".cu");
    ASSERT_TRUE(result.has_value());
    EXPECT_THAT(*result, StartsWith("#line 1 \"dir/\\\"k\\\".cu\"\n"));
    EXPECT_EQ(std::ranges::count(*result, '\n'), std::ranges::count(source, '\n') + 1);
    const auto line_of = [](const std::string& text, const std::string& what) {
        return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n');
    };
    for (const char* token : {"grid", "block", "      x,", "      y)", "tile[4]", "last()"})
        EXPECT_EQ(line_of(*result, token), line_of(source, token) + 1) << token;
}

TEST(EmulationRewriter, LeavesPlainCppAsItIs)
{
    const std::string source =
        "// a <<< b\n/* k<<<1, 2>>>(); */\nconst char* s = \"k<<<1,2>>>()\";\nauto r = R\"x(<<<\n)x\";\n"
        "int n = 1'000 << 2 >> 1; char c = '<'; std::vector<std::vector<std::vector<int>>> v;\n#if 0\nit's\n#endif\n";
    EXPECT_EQ(rewritten(source), source);
}

struct LaunchCase {
    const char *source, *callee, *name, *configuration, *arguments;
};
class Launches : public testing::TestWithParam<LaunchCase> {};

TEST_P(Launches, BecomeCallsWithConfigurationAndArguments)
{
    const auto& c = GetParam();
    EXPECT_THAT(rewritten(std::string("void f() { ") + c.source + "; }"),
                HasSubstr(launchOf(c.callee, c.name, c.configuration, c.arguments)));
}

INSTANTIATE_TEST_SUITE_P(
    EmulationRewriter, Launches,
    testing::Values(LaunchCase{"k<<<1, 2>>>()", "k", "\"k\"", "1, 2", ""},
                    LaunchCase{"k<<<g, b, 64, s>>>(x, y[1])", "k", "\"k\"", "g, b, 64, s", ", x, y[1]"},
                    LaunchCase{"a::b::k<<<1, 2>>>(x)", "a::b::k", "\"a::b::k\"", "1, 2", ", x"},
                    LaunchCase{"::k<<<1, 2>>>(x)", "::k", "\"::k\"", "1, 2", ", x"},
                    LaunchCase{"k<4, T<U<int>>><<<1, 2>>>(x)", "k<4, T<U<int>>>", "\"k<4, T<U<int>>>\"", "1, 2", ", x"},
                    LaunchCase{"if (c) k<N><<<1, 2>>>(x)", "k<N>", "\"k<N>\"", "1, 2", ", x"},
                    LaunchCase{"return (table[i])<<<1, 2>>>(x)", "(table[i])", "\"(table[i])\"", "1, 2", ", x"},
                    LaunchCase{"choose(i)<<<1, 2>>>(x)", "choose(i)", "\"choose(i)\"", "1, 2", ", x"},
                    LaunchCase{"o.m->k<<<1, 2>>>(x)", "o.m->k", "\"o.m->k\"", "1, 2", ", x"},
                    LaunchCase{"k<<<dim3(a >> 1), b >> 2>>>(x)", "k", "\"k\"", "dim3(a >> 1), b >> 2", ", x"},
                    LaunchCase{"k<<<1, 2>>>(NULL, 0, f(0), 0.0f)", "k", "\"k\"", "1, 2",
                               ", nullptr, ::cuco_emu::Zero{}, f(0), 0.0f"}));

TEST(EmulationRewriter, RewritesLaunchesInMacroBodiesAndNamesThemByTheirParameter)
{
    EXPECT_EQ(rewritten("#define GO(kernel, n) \\\n  kernel<<<n, 1>>>(x)\nGO(k, 2);\n"),
              "#define GO(kernel, n) \\\n  ::cuco_emu::launch(#kernel, [=](auto&... cuco_emu_a) { "
              "kernel(cuco_emu_a...); }, ::cuco_emu::LaunchConfig(n, 1), x)\nGO(k, 2);\n");
}

TEST(EmulationRewriter, GivesSharedVariablesStoragePerBlock)
{
    const auto text =
        rewritten("__global__ void k() {\n  __shared__ __align__(16) T<int, 4> tile[N][N + 1], other;\n}");
    EXPECT_THAT(text, HasSubstr("__align__(16) T<int, 4> tile[N][N + 1], other; };"));
    EXPECT_THAT(text, HasSubstr("auto& tile = ::cuco_emu::shared<cuco_emu_shared_2_"));
    EXPECT_THAT(text, HasSubstr("auto& other = ::cuco_emu::shared<cuco_emu_shared_2_"));
    EXPECT_THAT(text, Not(HasSubstr("__shared__")));
}

TEST(EmulationRewriter, KeepsVolatileAndDropsStaticOfASharedVariable)
{
    const auto text = rewritten("void k() { static volatile __shared__ int s[2]; }");
    EXPECT_THAT(text, HasSubstr("volatile"));
    EXPECT_THAT(text, Not(HasSubstr("static")));
    EXPECT_THAT(text, HasSubstr("auto& s = "));
}

TEST(EmulationRewriter, TurnsDynamicSharedMemoryIntoAPointer)
{
    const auto text = rewritten("void k() { extern __shared__ __align__(128) unsigned char pool[]; use(pool); }");
    EXPECT_THAT(text, HasSubstr("auto* pool = ::cuco_emu::dynamic_shared<unsigned char >();"));
    EXPECT_THAT(rewritten("void k() { extern __shared__ float m[][16]; }"),
                HasSubstr("auto* m = ::cuco_emu::dynamic_shared<float [16]>();"));
}

TEST(EmulationRewriter, ReplacesSharedVariablesOfANamespaceWhereverTheyAreNamed)
{
    const auto text = rewritten(
        "namespace n { extern __shared__ char pool[]; __shared__ int count;\n"
        "void k() { auto* p = reinterpret_cast<float*>(pool); count = o.count; } }");
    EXPECT_THAT(text, HasSubstr("reinterpret_cast<float*>((::cuco_emu::dynamic_shared<char >()))"));
    EXPECT_THAT(text, HasSubstr(">().count) = o.count;"));
}

TEST(EmulationRewriter, KeepsTheTypeOfAKernelThatIsPassedAsAnAddress)
{
    EXPECT_THAT(rewritten("int r = cudaLaunchCooperativeKernel((void*)k<3>, g, b, args);"),
                HasSubstr("cudaLaunchCooperativeKernel(k<3>, g, b, args)"));
    EXPECT_THAT(rewritten("int r = cudaFuncSetAttribute(reinterpret_cast<const void*>(&k), a, 1);"),
                HasSubstr("cudaFuncSetAttribute( (&k), a, 1)"));
    EXPECT_THAT(rewritten("int r = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)k, 1, 2);"),
                HasSubstr("(&n,  k, 1, 2)"));
    EXPECT_THAT(rewritten("auto p = (void*)k;"), HasSubstr("(void*)k"));
}

TEST(EmulationRewriter, FaultsNameTheLineAndWhatIsMissing)
{
    EXPECT_EQ(faultOf("\n\nvoid f() { k<<<1, 2; }").line, 3u);
    EXPECT_THAT(faultOf("void f() { k<<<1, 2; }").message, HasSubstr(">>>"));
    EXPECT_THAT(faultOf("void f() { k<<<1, 2>>>; }").message, HasSubstr("arguments"));
    EXPECT_THAT(faultOf("void f() { + <<<1, 2>>>(x); }").message, HasSubstr("name"));
    EXPECT_THAT(faultOf("\n/* never closed").message, HasSubstr("comment"));
    EXPECT_EQ(faultOf("\n/* never closed").line, 2u);
    EXPECT_THAT(faultOf("const char* s = \"open;\n").message, HasSubstr("string"));
    EXPECT_THAT(faultOf("void k() { __shared__ int x").message, HasSubstr("semicolon"));
}

TEST(EmulationRewriter, SurvivesEveryPrefixOfASource)
{
    const std::string source =
        "#define L(k) k<<<1,2>>>(0)\nextern __shared__ char p[]; template<int N> void k() { __shared__ int a[N], b; "
        "x::y<N><<<dim3(1), {2}, 3>>>(NULL, \"<<<\", R\"(>>>)\", '\\''); cudaLaunchKernel((void*)k<3>, 1); }";
    for (std::size_t length = 0; length <= source.size(); ++length) {
        const auto result = rewriteForEmulation(source.substr(0, length), "k.cu");
        EXPECT_TRUE(result.has_value() || result.error().line <= 2) << length;
    }
}

TEST(NotEmulable, NamesTheFirstFeatureAndItsLine)
{
    const auto fault = findNotEmulable("int a;\nvoid f() { asm volatile(\"bar.sync 0;\"); }\nwgmma_x();");
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->line, 2u);
    EXPECT_THAT(fault->message, HasSubstr("inline PTX"));
    EXPECT_EQ(findNotEmulable("#include <cuda/pipeline>\n")->line, 1u);
    EXPECT_THAT(findNotEmulable("\n\nauto p = ncclGetLsaMultimemPointer(w, 0, c);")->message, HasSubstr("multimem"));
    EXPECT_TRUE(findNotEmulable("using namespace cuda::ptx;").has_value());
    EXPECT_TRUE(findNotEmulable("#define FENCE asm(\"membar.sys;\")\n").has_value());
}

TEST(NotEmulable, IgnoresCommentsStringsAndLongerNames)
{
    EXPECT_FALSE(findNotEmulable("// asm(\"\")\nconst char* s = \"wgmma\"; int asm_count, my_multimem;").has_value());
}

}  // namespace
}  // namespace cuco
