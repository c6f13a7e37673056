// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/host_share.h"
#include "gpu/timing_page.h"
#include "job.h"
#include "wire.h"

#include <string>
#include <vector>

namespace cuco_harness {

/// What the supervisor asks of a rank; each is answered once, by `done` or by `failed` with a packed Failure.
namespace rank_message {
constexpr char hello = 'H';      ///< start CUDA; answered with device, SMs, L2, NCCL's version, rank 0: a unique id
constexpr char join = 'J';       ///< a unique id: join the communicator
constexpr char link_rate = 'N';  ///< send to the next rank by NCCL, all at once; answered with bytes a second
constexpr char load = 'L';       ///< the candidate's path
constexpr char allocate = 'A';   ///< sets, shape; answered with three descriptors and sizes
constexpr char setup = 'S';
constexpr char run =
    'R';  ///< stretch, first set, length, delay in ns, snapshot, flush, warm set; answered with the events' µs
constexpr char begin_trace = 'B', end_trace = 'E';
constexpr char teardown = 'T';
constexpr char leave = 'Q';
constexpr char done = 'K', failed = 'F';
}  // namespace rank_message

/// A shape without what a candidate must not know: its seeds.
std::string packShape(const ShapeJob& shape);
ShapeJob unpackShape(Unpacker& fields);

/// Answers the supervisor until it goes away or lets the rank leave.
void serveAsRank(Channel channel, TimingPage& page, const HostShare& share, int rank);

}  // namespace cuco_harness
