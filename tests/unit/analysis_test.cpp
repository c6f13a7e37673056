// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/directive_evidence.h"
#include "tests/support/analysis_samples.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using namespace cuco::testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string head = "#include <cublas_v2.h>\n#include <mpi.h>\n#include <nccl_device.h>\n";  // three lines

CudaAnalysis analyzed(const std::string& body)
{
    const auto analysis = analyzeCudaHere(analysisRequest(head + body));
    EXPECT_TRUE(analysis.has_value()) << describe(analysis.error());
    return analysis.value_or(CudaAnalysis{});
}

class Analysis : public ::testing::Test {
protected:
    void SetUp() override { CUCO_NEEDS_LIBCLANG(); }
};

TEST_F(Analysis, FindsACollectiveWithItsArguments)
{
    const auto found = analyzed(R"(
int gather(float* mine, float* all, size_t n, ncclComm_t comm, cudaStream_t stream)
{
    return ncclAllGather(mine, all, n * 2, ncclFloat, comm, stream);
}
)");
    ASSERT_THAT(found.communication, SizeIs(1));
    const CommunicationCall& call = found.communication[0];
    EXPECT_EQ(call.operation, "ncclAllGather");
    EXPECT_EQ(call.family, CommunicationFamily::nccl);
    EXPECT_EQ(call.line, 7u);
    EXPECT_EQ(call.function, "gather");
    EXPECT_THAT(call.reads, ElementsAre("mine"));
    EXPECT_THAT(call.writes, ElementsAre("all"));
    EXPECT_EQ(call.count, "n * 2");
    EXPECT_EQ(call.type, "ncclFloat");
    EXPECT_EQ(call.comm, "comm");
    EXPECT_EQ(call.stream, "stream");
    EXPECT_THAT(call.through, IsEmpty());
    EXPECT_FALSE(call.in_group);
    EXPECT_FALSE(call.in_loop);
    EXPECT_THAT(found.unresolved, IsEmpty());
}

TEST_F(Analysis, SaysThroughWhichMacroACollectiveIsCalled)
{
    const auto found = analyzed(R"(
#define GATHER ncclAllGather
#define REDUCE(from, to, n) ncclAllReduce(from, to, (n) * 4, ncclFloat, ncclSum, comm, 0)
#define TRY(call) do { if (int e = int(call)) return e; } while (0)
int f(float* a, float* b, ncclComm_t comm)
{
    TRY(GATHER(a, b, 1, ncclFloat, comm, 0));
    TRY(REDUCE(b, a, 3));
    TRY(ncclBroadcast(a, b, 5, ncclFloat, 0, comm, 0));
    return 0;
}
)");
    ASSERT_THAT(found.communication, SizeIs(3));
    ASSERT_THAT(found.communication[0].through, SizeIs(1));
    EXPECT_EQ(found.communication[0].through[0].how, "macro");
    EXPECT_EQ(found.communication[0].through[0].name, "GATHER");
    ASSERT_THAT(found.communication[1].through, SizeIs(1));
    EXPECT_EQ(found.communication[1].through[0].name, "REDUCE");
    EXPECT_EQ(found.communication[1].count, "(n) * 4");
    EXPECT_THAT(found.communication[1].reads, ElementsAre("b"));
    EXPECT_EQ(found.communication[1].stream, "default");
    EXPECT_EQ(found.communication[1].line, 11u);
    // A macro around the call is no way to it.
    EXPECT_THAT(found.communication[2].through, IsEmpty());
    EXPECT_FALSE(found.communication[2].in_loop);
}

TEST_F(Analysis, FollowsWrappersOfWrappersWithTheirArguments)
{
    const auto found = analyzed(R"(
int inner(const void* p, size_t n, int to, ncclComm_t c, cudaStream_t on)
{
    return ncclSend(p, n, ncclInt8, to, c, on);
}
int outer(char* q, ncclComm_t c, cudaStream_t on) { return inner(q + 16, 8, 1, c, on); }
struct State { char *first, *second; ncclComm_t comm; cudaStream_t side; };
int run(State* s)
{
    outer(s->first, s->comm, s->side);
    return outer(s->second, s->comm, s->side);
}
)");
    ASSERT_THAT(found.communication, SizeIs(2));
    EXPECT_THAT(found.communication[0].reads, ElementsAre("first"));
    EXPECT_THAT(found.communication[1].reads, ElementsAre("second"));
    for (const CommunicationCall& call : found.communication) {
        EXPECT_EQ(call.entry, "run");
        EXPECT_EQ(call.function, "inner");
        EXPECT_EQ(call.stream, "side");
        EXPECT_EQ(call.comm, "comm");
        ASSERT_THAT(call.through, SizeIs(2));
        EXPECT_EQ(call.through[0].name, "outer");
        EXPECT_EQ(call.through[1].name, "inner");
        EXPECT_EQ(call.through[1].line, 9u);
    }
    EXPECT_EQ(found.communication[0].through[0].line, 13u);
}

TEST_F(Analysis, FollowsFunctionPointers)
{
    const auto found = analyzed(R"(
extern "C" void* dlsym(void*, const char*);
using Gather = ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
Gather const table[] = {&ncclAllGather, nullptr};
struct Api { Gather gather; };
int call(Gather f, float* a, ncclComm_t c) { return f(a, a, 1, ncclFloat, c, 0); }
int f(float* a, ncclComm_t c, Api* api)
{
    auto local = ncclAllReduce;
    local(a, a, 1, ncclFloat, ncclSum, c, 0);
    table[0](a, a, 2, ncclFloat, c, 0);
    api->gather = pncclAllGather;
    api->gather(a, a, 3, ncclFloat, c, 0);
    call(ncclAlltoAll, a, c);
    reinterpret_cast<Gather>(dlsym(nullptr, "ncclAllGather"))(a, a, 4, ncclFloat, c, 0);
    return 0;
}
)");
    ASSERT_THAT(found.communication, SizeIs(5));
    std::vector<std::string> operations;
    for (const CommunicationCall& call : found.communication) {
        operations.push_back(call.operation);
        EXPECT_THAT(call.through, Contains(Field(&ReachedThrough::how, "function_pointer"))) << call.operation;
    }
    EXPECT_THAT(operations,
                ElementsAre("ncclAllReduce", "ncclAllGather", "pncclAllGather", "ncclAlltoAll", "ncclAllGather"));
    EXPECT_EQ(found.communication[0].through[0].name, "local");
    EXPECT_EQ(found.communication[2].family, CommunicationFamily::pnccl);
    EXPECT_EQ(found.communication[4].count, "4");
}

TEST_F(Analysis, TellsGroupsAndLoops)
{
    const auto found = analyzed(R"(
void f(float* a, float* b, int ranks, ncclComm_t c, cudaStream_t s)
{
    pncclBcast(a, 1, ncclFloat, 0, c, s);
    ncclGroupStart();
    for (int r = 0; r < ranks; ++r) {
        ncclSend(a, 1, ncclFloat, r, c, s);
        ncclRecv(b, 1, ncclFloat, r, c, s);
    }
    ncclGroupEnd();
    ncclReduce(a, b, 1, ncclFloat, ncclMax, 0, c, s);
}
)");
    ASSERT_THAT(found.communication, SizeIs(4));
    EXPECT_EQ(found.communication[0].family, CommunicationFamily::pnccl);
    EXPECT_FALSE(found.communication[0].in_group);
    EXPECT_TRUE(found.communication[1].in_group);
    EXPECT_TRUE(found.communication[1].in_loop);
    EXPECT_EQ(found.communication[1].peer, "r");
    EXPECT_TRUE(found.communication[2].in_loop);
    EXPECT_FALSE(found.communication[3].in_group);
    EXPECT_FALSE(found.communication[3].in_loop);
}

TEST_F(Analysis, FindsMpiAndCopiesBetweenDevices)
{
    const auto found = analyzed(R"(
void f(float* a, float* b, int n, cudaStream_t s)
{
    MPI_Request request;
    MPI_Irecv(b, n, MPI_FLOAT, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    PMPI_Allreduce(a, b, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    cudaMemcpyPeerAsync(b, 1, a, 0, n * sizeof(float), s);
    cudaMemcpyAsync(b, a, n, cudaMemcpyDeviceToDevice, s);
}
)");
    ASSERT_THAT(found.communication, SizeIs(3));
    EXPECT_EQ(found.communication[0].operation, "MPI_Irecv");
    EXPECT_EQ(found.communication[0].family, CommunicationFamily::mpi);
    EXPECT_THAT(found.communication[0].writes, ElementsAre("b"));
    EXPECT_EQ(found.communication[0].comm, "MPI_COMM_WORLD");
    EXPECT_EQ(found.communication[1].operation, "PMPI_Allreduce");
    EXPECT_EQ(found.communication[2].family, CommunicationFamily::peer_copy);
    EXPECT_EQ(found.communication[2].peer, "1");
    EXPECT_EQ(found.communication[2].count, "n * sizeof(float)");
    EXPECT_THAT(found.synchronisations, Contains(Field(&Synchronisation::operation, "MPI_Wait")));
}

TEST_F(Analysis, ListsBuffersByTheNameThatKeepsThem)
{
    const auto found = analyzed(R"(
template <class T>
int make(T** pointer, size_t n) { return cudaMalloc(pointer, n * sizeof(T)); }
struct State { float* a; int* b; void* window_memory; ncclWindow_t window; int* host; };
void f(State* s, ncclComm_t c)
{
    make(&s->a, 10);
    make(&s->b, 20);
    ncclMemAlloc(&s->window_memory, 4096);
    ncclCommWindowRegister(c, s->window_memory, 4096, &s->window, NCCL_WIN_COLL_SYMMETRIC);
    cudaMallocHost(&s->host, 64);
    cudaFree(s->a);
    cudaFreeHost(s->host);
}
)");
    const auto named = [&](const std::string& name) {
        const auto buffer = std::ranges::find(found.buffers, name, &Buffer::name);
        EXPECT_NE(buffer, found.buffers.end()) << name;
        return buffer == found.buffers.end() ? Buffer{} : *buffer;
    };
    EXPECT_THAT(found.buffers, SizeIs(4));
    EXPECT_EQ(named("a").allocation, "device");
    EXPECT_THAT(named("a").freed_lines, ElementsAre(15u));
    EXPECT_EQ(named("b").size, "n * sizeof(T)");
    EXPECT_EQ(named("window_memory").allocation, "nccl");
    EXPECT_THAT(named("window_memory").windows, ElementsAre("window"));
    EXPECT_EQ(named("host").allocation, "pinned_host");
    EXPECT_EQ(named("host").line, 14u);
}

const std::string two_streams = R"(
__global__ void produce(float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.0f;
}
__global__ void consume(const float* in, float* sum) { atomicAdd(sum, in[threadIdx.x]); }
void f(float* a, float* b, float* sum, int n, ncclComm_t c, cudaStream_t main_stream)
{
    cudaStream_t side;
    cudaEvent_t ready, back;
    cudaStreamCreateWithPriority(&side, cudaStreamNonBlocking, -1);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&back, cudaEventDisableTiming);
    produce<<<dim3(n / 256), 256, 64, main_stream>>>(a, n);
    cudaEventRecord(ready, main_stream);
    cudaStreamWaitEvent(side, ready, 0);
    ncclAllReduce(a, b, n, ncclFloat, ncclSum, c, side);
    cudaEventRecord(back, side);
    WAIT
    consume<<<1, 256, 0, main_stream>>>(b, sum);
}
)";

TEST_F(Analysis, OrdersProducersAndConsumersByStreamsAndEvents)
{
    const auto found = analyzed("#define WAIT cudaStreamWaitEvent(main_stream, back, 0);" + two_streams);
    ASSERT_THAT(found.launches, SizeIs(2));
    EXPECT_EQ(found.launches[0].kernel, "produce");
    EXPECT_EQ(found.launches[0].grid, "dim3(n / 256)");
    EXPECT_EQ(found.launches[0].block, "256");
    EXPECT_EQ(found.launches[0].shared, "64");
    EXPECT_EQ(found.launches[0].stream, "main_stream");
    EXPECT_THAT(found.launches[0].arguments, ElementsAre("a", "n"));
    EXPECT_THAT(found.launches[0].writes, ElementsAre("a"));
    EXPECT_THAT(found.launches[0].reads, IsEmpty());
    EXPECT_THAT(found.launches[1].reads, Contains("b"));
    EXPECT_THAT(found.launches[1].writes, ElementsAre("sum"));
    ASSERT_THAT(found.operations, SizeIs(3));
    ASSERT_THAT(found.dependencies, SizeIs(2));
    EXPECT_EQ(found.dependencies[0].buffer, "a");
    EXPECT_EQ(found.dependencies[0].kind, "flow");
    EXPECT_EQ(found.dependencies[0].order, "event ready");
    EXPECT_EQ(found.dependencies[1].buffer, "b");
    EXPECT_EQ(found.dependencies[1].order, "event back");
    const auto side = std::ranges::find(found.streams, "side", &Stream::name);
    ASSERT_NE(side, found.streams.end());
    EXPECT_EQ(side->priority, "-1");
    ASSERT_THAT(found.events, SizeIs(2));
    ASSERT_THAT(found.events[0].waits, SizeIs(1));
    EXPECT_EQ(found.events[0].waits[0].stream, "side");
    const auto evidence = directiveEvidence(found);
    EXPECT_EQ(evidence.backend.value, "host");
    EXPECT_EQ(evidence.placement.value, "stream_overlap");
    EXPECT_EQ(evidence.issuer.value, "host");
}

TEST_F(Analysis, SaysWhatNothingOrders)
{
    const auto found = analyzed("#define WAIT" + two_streams);
    ASSERT_THAT(found.dependencies, SizeIs(2));
    EXPECT_EQ(found.dependencies[0].order, "event ready");
    EXPECT_EQ(found.dependencies[1].buffer, "b");
    EXPECT_EQ(found.dependencies[1].order, "none");
    const auto waited = analyzed("#define WAIT cudaEventSynchronize(back);" + two_streams);
    EXPECT_EQ(waited.dependencies.at(1).order, "host");
}

TEST_F(Analysis, SeesWhatTheDeviceDoesToPeers)
{
    const auto found = analyzed(R"(
__device__ char* at(ncclWindow_t window, size_t offset, int rank)
{
    return static_cast<char*>(ncclGetLsaPointer(window, offset, rank));
}
__global__ void push(ncclWindow_t window, ncclDevComm comm, size_t n, unsigned turn)
{
    ncclLsaBarrierSession<ncclCoopWarp> barrier{ncclCoopWarp(), comm, ncclTeamTagLsa(), 0};
    barrier.sync(ncclCoopWarp(), cuda::memory_order_relaxed);
    const char* from = at(window, 0, comm.lsaRank);
    for (int peer = 0; peer < comm.lsaSize; ++peer) {
        char* to = at(window, 0, peer);
        for (size_t i = threadIdx.x % 32; i < n; i += 32)
            to[i] = from[i];
        if (threadIdx.x == 0)
            cuda::atomic_ref<unsigned>(*reinterpret_cast<unsigned*>(at(window, 4096, peer))).store(turn);
    }
    while (cuda::atomic_ref<unsigned>(*reinterpret_cast<unsigned*>(at(window, 4096, comm.lsaRank))).load() < turn) {
    }
}
struct State { ncclWindow_t window; ncclDevComm comm; void* memory; };
void f(State* s, ncclComm_t c, cudaStream_t stream)
{
    ncclCommWindowRegister(c, s->memory, 4096, &s->window, 1);
    push<<<8, 256, 0, stream>>>(s->window, s->comm, 100, 1);
}
)");
    EXPECT_TRUE(found.uses_device_communication);
    ASSERT_THAT(found.communication, SizeIs(1));
    EXPECT_EQ(found.communication[0].operation, "store_to_peer");
    EXPECT_EQ(found.communication[0].family, CommunicationFamily::nccl_lsa);
    EXPECT_EQ(found.communication[0].kernel, "push");
    EXPECT_EQ(found.communication[0].issuer, "warp");
    EXPECT_THAT(found.communication[0].writes, ElementsAre("memory"));
    ASSERT_THAT(found.launches, SizeIs(1));
    EXPECT_TRUE(found.launches[0].communicates);
    EXPECT_FALSE(found.launches[0].computes);
    std::vector<std::string> points;
    for (const Synchronisation& point : found.synchronisations) {
        points.push_back(point.operation + " " + point.scope);
    }
    EXPECT_THAT(points, ElementsAre("ncclLsaBarrierSession world", "flag_store ", "flag_wait "));
    EXPECT_EQ(found.synchronisations[0].cooperation, "warp");
    EXPECT_EQ(found.synchronisations[1].cooperation, "thread");
    const auto evidence = directiveEvidence(found);
    EXPECT_EQ(evidence.backend.value, "lsa");
    EXPECT_EQ(evidence.sync.value, "peer");
    EXPECT_EQ(evidence.issuer.value, "warp");
    EXPECT_EQ(evidence.placement.value, "");
}

TEST_F(Analysis, SeesPutsThroughTheNetworkAdapter)
{
    const auto found = analyzed(R"(
__global__ void put(ncclWindow_t send, ncclWindow_t receive, ncclDevComm comm, size_t bytes)
{
    ncclGin gin(comm, 0);
    for (int peer = 0; peer < comm.nRanks; ++peer)
        gin.put(ncclTeamWorld(comm), peer, receive, 0, send, 0, bytes, ncclGin_SignalInc{0});
    gin.waitSignal(ncclCoopCta(), 0, comm.nRanks);
    gin.flush(ncclCoopCta());
}
void f(ncclWindow_t a, ncclWindow_t b, ncclDevComm comm) { put<<<1, 32>>>(a, b, comm, 64); }
)");
    ASSERT_THAT(found.communication, SizeIs(1));
    EXPECT_EQ(found.communication[0].operation, "gin_put");
    EXPECT_THAT(found.communication[0].reads, ElementsAre("a"));
    EXPECT_THAT(found.communication[0].writes, ElementsAre("b"));
    EXPECT_EQ(found.communication[0].peer, "peer");
    EXPECT_THAT(found.synchronisations, Contains(Field(&Synchronisation::operation, "gin_waitSignal")));
    const auto evidence = directiveEvidence(found);
    EXPECT_EQ(evidence.backend.value, "gin");
    EXPECT_EQ(evidence.sync.value, "peer");
}

TEST_F(Analysis, SeesCooperativeLaunches)
{
    const auto found = analyzed(R"(
__global__ void k(float* a) { a[0] = 1; }
void f(float* a, cudaStream_t s)
{
    void* arguments[] = {&a};
    cudaLaunchCooperativeKernel(k, dim3(4), dim3(128), arguments, 32, s);
}
)");
    ASSERT_THAT(found.launches, SizeIs(1));
    EXPECT_TRUE(found.launches[0].cooperative);
    EXPECT_EQ(found.launches[0].kernel, "k");
    EXPECT_EQ(found.launches[0].grid, "dim3(4)");
    EXPECT_EQ(found.launches[0].shared, "32");
    EXPECT_EQ(found.launches[0].stream, "s");
    EXPECT_THAT(found.launches[0].writes, ElementsAre("a"));
}

TEST_F(Analysis, UnderstandsIncompleteProgramsAndSaysWhatTheyLack)
{
    const auto found = analyzed(R"(
#include "not_here.h"
#include <neither/here.h>
Missing state;
int f(float* a, ncclComm_t c, cudaStream_t s)
{
    prepare(a);
    ncclBrandNewCollective(a, 3, c, s);
    ncclAllGather(a, a, COUNT, ncclFloat, c, s);
    return state.finish(
)");
    std::vector<std::string> missing;
    for (const Unresolved& unresolved : found.unresolved) {
        missing.push_back(unresolved.kind + " " + unresolved.name);
    }
    EXPECT_THAT(missing, Contains("include not_here.h"));
    EXPECT_THAT(missing, Contains("include neither/here.h"));
    EXPECT_THAT(missing, Contains("name Missing"));
    EXPECT_THAT(missing, Contains("name prepare"));
    EXPECT_THAT(missing, Contains("name COUNT"));
    EXPECT_EQ(found.unresolved[0].line, 5u);
    std::vector<std::string> operations;
    for (const CommunicationCall& call : found.communication) {
        operations.push_back(call.operation);
        EXPECT_EQ(call.resolved, call.operation != "ncclBrandNewCollective");
    }
    EXPECT_THAT(operations, ElementsAre("ncclBrandNewCollective", "ncclAllGather"));
}

TEST_F(Analysis, NoFileOutsideTheFoldersCanBeIncluded)
{
    for (const std::string name :
         {"/etc/passwd", "../../../../../etc/passwd", "/proc/self/environ", "/usr/include/../../etc/passwd"}) {
        const auto found = analyzed("\n#include \"" + name + "\"\nint a;\n");
        ASSERT_THAT(found.unresolved, SizeIs(1)) << name;
        EXPECT_EQ(found.unresolved[0].kind, "include");
        EXPECT_EQ(found.unresolved[0].line, 5u);
        EXPECT_THAT(toJson(found).dump(), Not(HasSubstr("root:")));
    }
    const auto asked = analyzed("#if __has_include(\"/etc/passwd\")\nint leaked = there;\n#endif\n");
    EXPECT_THAT(asked.unresolved, IsEmpty());
}

TEST_F(Analysis, TakesWhatIsNoUtf8AndRefusesWhatIsNoText)
{
    const auto found =
        analyzed("// \xff\xfe\nvoid f(float* a, ncclComm_t c) { ncclSend(a, 1, ncclFloat, \"\xff\"[0], c, 0); }\n");
    ASSERT_THAT(found.communication, SizeIs(1));
    EXPECT_EQ(found.communication[0].line, 5u);
    const auto binary = analyzeCudaHere(analysisRequest(std::string("int a;\0int b;", 13)));
    ASSERT_FALSE(binary.has_value());
    EXPECT_THAT(binary.error().what, HasSubstr("NUL"));
    const auto large = analyzeCudaHere(analysisRequest(std::string(max_analysed_bytes + 1, '\n')));
    ASSERT_FALSE(large.has_value());
    EXPECT_THAT(large.error().what, HasSubstr("4194304"));
    EXPECT_THAT(analyzed("").communication, IsEmpty());
}

TEST_F(Analysis, DeepAndRecursiveSourcesEnd)
{
    const auto recursive = analyzed(R"(
int even(float* a, int n, ncclComm_t c);
int odd(float* a, int n, ncclComm_t c) { return n == 0 ? 0 : even(a, n - 1, c); }
int even(float* a, int n, ncclComm_t c) { ncclSend(a, 1, ncclFloat, n, c, 0); return odd(a, n - 1, c); }
)");
    EXPECT_THAT(recursive.communication, Not(IsEmpty()));
    const auto deep = analyzed("int f() { return " + std::string(5000, '(') + "1" + std::string(5000, ')') + "; }\n");
    EXPECT_THAT(deep.unresolved, Not(IsEmpty()));
    // 2^24 calls of calls.
    std::string doubling = "void f0(float* a, ncclComm_t c) { ncclSend(a, 1, ncclFloat, 0, c, 0); }\n";
    for (int i = 1; i <= 24; ++i) {
        const std::string inner = "f" + std::to_string(i - 1) + "(a, c); ";
        doubling += "void f" + std::to_string(i) + "(float* a, ncclComm_t c) { " + inner + inner + "}\n";
    }
    EXPECT_TRUE(analyzed(doubling).truncated);
}

TEST_F(Analysis, IsTheSameThroughJson)
{
    const auto found = analyzed("#define WAIT" + two_streams);
    const auto back = analysisFromJson(nlohmann::json::parse(toJson(found).dump()));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(toJson(*back), toJson(found));
    EXPECT_EQ(toText(*back), toText(found));
    EXPECT_FALSE(analysisFromJson(nlohmann::json::parse(R"({"source": 3})")).has_value());
}

}  // namespace
}  // namespace cuco
