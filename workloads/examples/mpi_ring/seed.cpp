// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

// y = A·x. Each rank has rows of A and a block of x; blocks of x go round a ring, and each is multiplied where it is.
// Prints what the rank took and whether its rows of y are right.
#define CUCO_TUNE(name, value, ...) constexpr long long name = value

struct Ring {
    int rank = 0, ranks = 1;
    int64_t n = 0;

    int64_t first(int r) const { return n * r / ranks; }
    int64_t count(int r) const { return first(r + 1) - first(r); }
    int64_t most() const { return (n + ranks - 1) / ranks; }
    int next() const { return (rank + 1) % ranks; }
    int previous() const { return (rank + ranks - 1) % ranks; }
    // Whose block is here after so many steps.
    int owner(int step) const { return (rank + ranks - step % ranks) % ranks; }
};

// y += A[:, first of owner …]·block, columns [begin, end) of the block.
inline void multiplyBlock(const Ring& ring, const std::vector<double>& a, int owner, const double* block, int64_t begin,
                          int64_t end, std::vector<double>& y)
{
    for (int64_t row = 0; row < ring.count(ring.rank); ++row) {
        const double* values = a.data() + row * ring.n + ring.first(owner);
        double sum = 0;
        for (int64_t column = begin; column < end; ++column)
            sum += values[column] * block[column];
        y[size_t(row)] += sum;
    }
}

// Adds A·x to y. `x` is this rank's block and is left as it is.
void multiply(const Ring& ring, const std::vector<double>& a, const std::vector<double>& x, std::vector<double>& y);

// EVOLVE-BLOCK-START
// cuco: backend=host placement=split sync=world issuer=host chunk=0

// A block is passed on while it is multiplied, in chunks between which MPI gets on with it.
CUCO_TUNE(chunks, 2, 1, 2, 4, 8);
CUCO_TUNE(messages, 1, 1, 2, 4);  // a block's

void multiply(const Ring& ring, const std::vector<double>& a, const std::vector<double>& x, std::vector<double>& y)
{
    std::vector<double> block(x), incoming(size_t(ring.most()));
    block.resize(size_t(ring.most()));
    for (int step = 0; step < ring.ranks; ++step) {
        const int owner = ring.owner(step), following = ring.owner(step + 1);
        MPI_Request requests[2 * messages];
        int open = 0;
        for (int message = 0; step + 1 < ring.ranks && message < messages; ++message) {
            const int64_t in = ring.count(following) * message / messages;
            const int64_t out = ring.count(owner) * message / messages;
            MPI_Irecv(incoming.data() + in, int(ring.count(following) * (message + 1) / messages - in), MPI_DOUBLE,
                      ring.previous(), message, MPI_COMM_WORLD, &requests[open++]);
            MPI_Isend(block.data() + out, int(ring.count(owner) * (message + 1) / messages - out), MPI_DOUBLE,
                      ring.next(), message, MPI_COMM_WORLD, &requests[open++]);
        }
        for (int chunk = 0; chunk < chunks; ++chunk) {
            multiplyBlock(ring, a, owner, block.data(), ring.count(owner) * chunk / chunks,
                          ring.count(owner) * (chunk + 1) / chunks, y);
            int arrived = 0;
            if (open > 0)
                MPI_Testall(open, requests, &arrived, MPI_STATUSES_IGNORE);
            if (arrived)
                open = 0;
        }
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
        block.swap(incoming);
    }
}
// EVOLVE-BLOCK-END

namespace {

constexpr int iterations = 20, warm_up = 2;

double entry(int64_t i, int64_t j, int iteration)
{
    uint64_t bits = uint64_t(i) * 0x9e3779b97f4a7c15ull + uint64_t(j) * 0xc2b2ae3d27d4eb4full + uint64_t(iteration);
    bits ^= bits >> 29;
    bits *= 0xbf58476d1ce4e5b9ull;
    bits ^= bits >> 32;
    return double(bits >> 11) / double(1ull << 53) - 0.5;
}

double element(int64_t j, int iteration)
{
    return entry(-1, j, iteration);
}

bool isRight(const Ring& ring, const std::vector<double>& a, const std::vector<double>& y, int iteration)
{
    for (int64_t row = 0; row < ring.count(ring.rank); ++row) {
        double sum = 0;
        for (int64_t column = 0; column < ring.n; ++column)
            sum += a[size_t(row * ring.n + column)] * element(column, iteration);
        if (!(std::fabs(sum - y[size_t(row)]) <= 1e-9 * double(ring.n)))
            return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    Ring ring;
    ring.n = 1537;
    MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ring.ranks);
    const int64_t rows = ring.count(ring.rank);
    std::vector<double> a(size_t(rows * ring.n)), x(size_t(rows), 0.0), y(size_t(rows), 0.0);
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < ring.n; ++column)
            a[size_t(row * ring.n + column)] = entry(ring.first(ring.rank) + row, column, 0);
    }
    bool right = true;
    double took = 0;
    for (int iteration = 0; iteration < warm_up + iterations; ++iteration) {
        for (int64_t i = 0; i < rows; ++i)
            x[size_t(i)] = element(ring.first(ring.rank) + i, iteration);
        std::fill(y.begin(), y.end(), 0.0);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        multiply(ring, a, x, y);
        if (iteration >= warm_up)
            took += MPI_Wtime() - begin;
        right = isRight(ring, a, y, iteration) && right;
    }
    std::printf("rank %d: %s\nrank %d: %.6f ms\n", ring.rank, right ? "PASS" : "FAIL", ring.rank,
                took / iterations * 1e3);
    std::fflush(stdout);
    MPI_Finalize();
    return right ? 0 : 1;
}
