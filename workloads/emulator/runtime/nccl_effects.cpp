// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "cuco_emu/small_float.h"

#include "runtime/nccl_state.h"

#include <algorithm>
#include <cstring>

namespace cuco_emu {
namespace {

using Bf16 = Small<Bf16Format>;
using Half = Small<HalfFormat>;

/// What sums are kept in.
template <class T>
struct Wide {
    using type = T;
};
template <>
struct Wide<Bf16> {
    using type = float;
};
template <>
struct Wide<Half> {
    using type = float;
};

template <class T>
void reduce_elements(const Collective& collective, std::size_t offset, std::size_t count, T* out)
{
    using W = typename Wide<T>::type;
    for (std::size_t i = 0; i < count; ++i) {
        W total{};
        bool first = true;
        for (const auto& part : collective.parts) {
            const W value = static_cast<W>(static_cast<const T*>(part.send)[offset + i]);
            switch (first ? ncclNumOps : collective.operation) {
                case ncclSum:
                case ncclAvg:
                    total = static_cast<W>(total + value);
                    break;
                case ncclProd:
                    total = static_cast<W>(total * value);
                    break;
                case ncclMax:
                    total = std::max(total, value);
                    break;
                case ncclMin:
                    total = std::min(total, value);
                    break;
                default:
                    total = value;
                    break;
            }
            first = false;
        }
        if (collective.operation == ncclAvg)
            total = static_cast<W>(total / static_cast<W>(collective.parts.size()));
        out[i] = static_cast<T>(total);
    }
}

void reduce(const Collective& collective, std::size_t offset, std::size_t count, void* out)
{
    switch (collective.type) {
        case ncclInt8:
            return reduce_elements(collective, offset, count, static_cast<std::int8_t*>(out));
        case ncclUint8:
            return reduce_elements(collective, offset, count, static_cast<std::uint8_t*>(out));
        case ncclInt32:
            return reduce_elements(collective, offset, count, static_cast<std::int32_t*>(out));
        case ncclUint32:
            return reduce_elements(collective, offset, count, static_cast<std::uint32_t*>(out));
        case ncclInt64:
            return reduce_elements(collective, offset, count, static_cast<std::int64_t*>(out));
        case ncclUint64:
            return reduce_elements(collective, offset, count, static_cast<std::uint64_t*>(out));
        case ncclFloat16:
            return reduce_elements(collective, offset, count, static_cast<Half*>(out));
        case ncclFloat32:
            return reduce_elements(collective, offset, count, static_cast<float*>(out));
        case ncclFloat64:
            return reduce_elements(collective, offset, count, static_cast<double*>(out));
        case ncclBfloat16:
            return reduce_elements(collective, offset, count, static_cast<Bf16*>(out));
        default:
            return;
    }
}

char* at_part(void* base, std::size_t index, std::size_t bytes)
{
    return static_cast<char*>(base) + index * bytes;
}

}  // namespace

std::size_t element_bytes(ncclDataType_t type)
{
    switch (type) {
        case ncclInt8:
        case ncclUint8:
        case ncclFloat8e4m3:
        case ncclFloat8e5m2:
            return 1;
        case ncclFloat16:
        case ncclBfloat16:
            return 2;
        case ncclInt32:
        case ncclUint32:
        case ncclFloat32:
            return 4;
        case ncclInt64:
        case ncclUint64:
        case ncclFloat64:
            return 8;
        default:
            return 0;
    }
}

void perform(const Collective& collective)
{
    const std::size_t ranks = collective.parts.size();
    const std::size_t bytes = collective.count * element_bytes(collective.type);
    const auto& parts = collective.parts;
    const auto root = static_cast<std::size_t>(collective.root);
    const auto copy = [](void* to, const void* from, std::size_t size) {
        if (to && from)
            std::memmove(to, from, size);
    };
    if (collective.name == "ncclAllGather") {
        for (std::size_t to = 0; to < ranks; ++to)
            for (std::size_t from = 0; from < ranks; ++from)
                copy(at_part(parts[to].receive, from, bytes), parts[from].send, bytes);
    } else if (collective.name == "ncclAlltoAll") {
        for (std::size_t to = 0; to < ranks; ++to)
            for (std::size_t from = 0; from < ranks; ++from)
                copy(at_part(parts[to].receive, from, bytes), at_part(const_cast<void*>(parts[from].send), to, bytes),
                     bytes);
    } else if (collective.name == "ncclBroadcast") {
        for (const auto& part : parts)
            copy(part.receive, parts[root].send, bytes);
    } else if (collective.name == "ncclGather") {
        for (std::size_t from = 0; from < ranks; ++from)
            copy(at_part(parts[root].receive, from, bytes), parts[from].send, bytes);
    } else if (collective.name == "ncclScatter") {
        for (std::size_t to = 0; to < ranks; ++to)
            copy(parts[to].receive, at_part(const_cast<void*>(parts[root].send), to, bytes), bytes);
    } else if (collective.name == "ncclReduceScatter") {
        std::vector<std::vector<char>> results(ranks, std::vector<char>(bytes));
        for (std::size_t to = 0; to < ranks; ++to)
            reduce(collective, to * collective.count, collective.count, results[to].data());
        for (std::size_t to = 0; to < ranks; ++to)
            copy(parts[to].receive, results[to].data(), bytes);
    } else {
        std::vector<char> result(bytes);
        reduce(collective, 0, collective.count, result.data());
        const bool everywhere = collective.name == "ncclAllReduce";
        for (std::size_t to = 0; to < ranks; ++to)
            if (everywhere || to == root)
                copy(parts[to].receive, result.data(), bytes);
    }
}

}  // namespace cuco_emu
