// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/fragments.h"
#include "runtime/hooks.h"
#include "runtime/warp.h"

#include <algorithm>

/// Products of a warpgroup that go on while its warps do something else (wgmma). Each warp computes its 16 rows of
/// them, all at once, when its last lane has come to wait for them.
namespace cuco_emu {
namespace {

constexpr int row_bytes = 128, warps = 4;

/// Rows of 128 bytes: their chunks of 16 are exchanged within eight rows (workloads/harness/warpgroup.cuh).
const char* chunk_at(const char* linear)
{
    const auto address = reinterpret_cast<std::uintptr_t>(linear);
    return reinterpret_cast<const char*>(address ^ (address >> 3 & 0x70));
}

void widen(const char* chunk, float* to, int stride)
{
    std::uint16_t bits[8];
    __builtin_memcpy(bits, chunk, 16);
    for (int i = 0; i < 8; ++i)
        to[i * stride] = Bf16Format::to_float(bits[i]);
}

/// `count` rows from `first` on, `bytes` of each. The matrix is read once for as many warps as share it.
void note_read(const char* first, int count, int bytes, int shared_by, const void* site)
{
    for (const char* at : {first, first + (count - 1) * row_bytes}) {
        if (slot_of(at) != shared_slot)
            fail_in_kernel("crash", "A product of a warpgroup takes a matrix from elsewhere than shared memory.",
                           *current_thread, site);
        observe(chunk_at(at), 16, false, site);
    }
    current_warp->cost.shared_bytes += static_cast<std::uint64_t>(count * bytes / shared_by);
    if (!race_checking)
        return;
    for (int row = 0; row < count; ++row)
        for (int byte = 0; byte < bytes; byte += 16)
            race_plain(chunk_at(first + row * row_bytes + byte), 16, false, site);
}

struct WaitingLane {
    const cuco_emu_product* products;
    std::size_t count;
    const void* site;
};

/// a[row][k] of this warp.
void take_a(void* const* lanes, std::size_t number, float* a, const void* site)
{
    const auto& first = static_cast<const WaitingLane*>(lanes[0])->products[number];
    if (!first.a) {
        const auto warp = static_cast<std::size_t>(current_warp - current_warp->block->warps.data()) % warps;
        const char* from = first.a_rows + warp * fragment_rows * row_bytes;
        note_read(from, fragment_rows, 2 * fragment_depth, 1, site);
        for (int row = 0; row < fragment_rows; ++row)
            for (int half = 0; half < 2; ++half)
                widen(chunk_at(from + row * row_bytes + 16 * half), a + row * fragment_depth + 8 * half, 1);
        return;
    }
    for (int lane = 0; lane < 32; ++lane)
        spread_a(static_cast<const WaitingLane*>(lanes[lane])->products[number].a, lane, a, fragment_depth);
}

/// b[k][column].
void take_b(const cuco_emu_product& product, float* b, const void* site)
{
    const int columns = product.columns;
    if (!product.b_rows) {
        note_read(product.b, columns, 2 * fragment_depth, warps, site);
        for (int column = 0; column < columns; ++column)
            for (int half = 0; half < 2; ++half)
                widen(chunk_at(product.b + column * row_bytes + 16 * half), b + 8 * half * columns + column, columns);
        return;
    }
    for (int panel = 0; panel < columns; panel += 64) {
        const char* from = product.b + static_cast<std::size_t>(panel / 64) * product.b_panel;
        note_read(from, fragment_depth, row_bytes, warps, site);
        for (int k = 0; k < fragment_depth; ++k)
            for (int chunk = 0; chunk < 8; ++chunk)
                widen(chunk_at(from + k * row_bytes + 16 * chunk), b + k * columns + panel + 8 * chunk, 1);
    }
}

template <bool to_lanes>
void exchange(void* const* lanes, std::size_t number, float* c, int columns)
{
    for (int lane = 0; lane < 32; ++lane)
        exchange_c<to_lanes>(static_cast<const WaitingLane*>(lanes[lane])->products[number].c, lane, c, columns);
}

void check_agreement(void* const* lanes, const void* site)
{
    const auto& first = *static_cast<const WaitingLane*>(lanes[current_thread->lane]);
    for (int lane = 0; lane < 32; ++lane) {
        const auto* other = static_cast<const WaitingLane*>(lanes[lane]);
        bool same = other && other->count == first.count;
        for (std::size_t i = 0; same && i < first.count; ++i) {
            const auto &x = first.products[i], &y = other->products[i];
            same = x.a_rows == y.a_rows && !x.a == !y.a && x.b == y.b && x.columns == y.columns && x.add == y.add;
        }
        if (!same)
            fail_in_kernel("crash", "The lanes of a warp do not begin the same products of a warpgroup.",
                           *current_thread, site);
    }
}

void multiply_groups(void** lanes, const void* site)
{
    check_agreement(lanes, site);
    const auto& first = *static_cast<const WaitingLane*>(lanes[0]);
    float a[fragment_rows * fragment_depth], b[fragment_depth * most_fragment_columns],
        c[fragment_rows * most_fragment_columns];
    for (std::size_t i = 0; i < first.count; ++i) {
        const auto& product = first.products[i];
        const bool goes_on = i > 0 && first.products[i - 1].c == product.c;
        const bool last = i + 1 == first.count || first.products[i + 1].c != product.c;
        if (!product.add)
            std::fill_n(c, fragment_rows * product.columns, 0.0f);
        else if (!goes_on)
            exchange<false>(lanes, i, c, product.columns);
        take_a(lanes, i, a, site);
        take_b(product, b, site);
        multiply_rows(a, b, c, product.columns);
        if (last)
            exchange<true>(lanes, i, c, product.columns);
        current_warp->cost.group_flops += 2.0 * fragment_rows * fragment_depth * product.columns;
    }
    current_warp->cost.group_flops += machine().model.wgmma_group_mflop * 1e6 / warps;
}

LaneProducts& own_products()
{
    auto& products = current_warp->products;
    if (!products)
        products = std::make_unique<std::array<LaneProducts, 32>>();
    return (*products)[current_thread->lane];
}

bool in_own_stack(const void* begin, std::size_t bytes)
{
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(begin) - current_thread->stack);
    return offset < thread_stack_bytes && offset + bytes <= thread_stack_bytes;
}

}  // namespace
}  // namespace cuco_emu

using namespace cuco_emu;

void cuco_emu_begin_product(const cuco_emu_product* product)
{
    const bool known = product->columns == 32 || product->columns == 64 || product->columns == 128;
    if (!known || !in_own_stack(product->c, static_cast<std::size_t>(product->columns) / 2 * sizeof(float)) ||
        (product->a && !in_own_stack(product->a, 16)))
        fail_in_kernel("crash",
                       "A product of a warpgroup has no such shape, or its registers are no variables of the thread.",
                       *current_thread, CUCO_EMU_CALL_SITE());
    own_products().begun.push_back(*product);
}

void cuco_emu_close_products()
{
    auto& own = own_products();
    own.group_ends.push_back(own.begun.size());
}

void cuco_emu_wait_for_products(int open)
{
    auto& own = own_products();
    const auto kept = static_cast<std::size_t>(std::max(open, 0));
    if (own.group_ends.size() <= kept)
        return;
    const std::size_t groups = own.group_ends.size() - kept, count = own.group_ends[groups - 1];
    const void* site = CUCO_EMU_CALL_SITE();
    WaitingLane waiting{own.begun.data(), count, site};
    collect(~0u, &waiting, multiply_groups, site, site);
    own.begun.erase(own.begun.begin(), own.begun.begin() + static_cast<std::ptrdiff_t>(count));
    own.group_ends.erase(own.group_ends.begin(), own.group_ends.begin() + static_cast<std::ptrdiff_t>(groups));
    for (auto& end : own.group_ends)
        end -= count;
}
