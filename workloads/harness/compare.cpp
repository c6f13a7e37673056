// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <cmath>
#include <limits>

namespace cuco_harness {
namespace {

double halfToDouble(uint16_t bits)
{
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == 0x1f)
        return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0)
        return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(fraction + 0x400, exponent - 25);
}

template <class Number>
Number load(const char* bytes, int64_t index)
{
    Number number;
    std::memcpy(&number, bytes + size_t(index) * sizeof number, sizeof number);
    return number;
}

}  // namespace

double elementAt(const char* bytes, ElementType type, int64_t index)
{
    switch (type) {
        case ElementType::bf16: {
            const uint32_t bits = uint32_t(load<uint16_t>(bytes, index)) << 16;
            float value;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        }
        case ElementType::f16:
            return halfToDouble(load<uint16_t>(bytes, index));
        case ElementType::f32:
            return load<float>(bytes, index);
        case ElementType::i32:
            return load<int32_t>(bytes, index);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

bool Comparison::right(double l2_bound, double max_bound) const
{
    // Written so that what is no number fails.
    return wrong_elements == 0 && relative_l2 <= l2_bound && max_error <= max_bound;
}

Comparison compare(const std::vector<char>& bytes, ElementType type, const std::vector<float>& reference,
                   double l2_bound, double max_bound)
{
    Comparison result;
    result.elements = int64_t(reference.size());
    if (reference.empty())
        return result;
    double reference_squares = 0;
    for (const float value : reference)
        reference_squares += double(value) * value;
    const double rms = std::sqrt(reference_squares / double(reference.size()));

    double error_squares = 0, worst = -1;
    int64_t worst_element = 0;
    bool no_number = false;
    for (int64_t i = 0; i < result.elements; ++i) {
        const double error = std::fabs(elementAt(bytes.data(), type, i) - reference[size_t(i)]);
        const double scaled = error > 0 ? error / std::fmax(rms, std::fabs(reference[size_t(i)])) : error;
        error_squares += error * error;
        if (!(scaled <= max_bound)) {
            if (result.wrong_elements++ == 0)
                result.element = i;
            no_number = no_number || std::isnan(error);
        }
        if (scaled > worst) {
            worst = scaled;
            worst_element = i;
        }
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double norm = std::sqrt(reference_squares);
    result.relative_l2 = no_number           ? nan
                         : norm > 0          ? std::sqrt(error_squares) / norm
                         : error_squares > 0 ? INFINITY
                                             : 0;
    result.max_error = no_number ? nan : worst;
    if (!result.right(l2_bound, max_bound) && result.element < 0)
        result.element = worst_element;
    if (result.element >= 0) {
        result.expected = reference[size_t(result.element)];
        result.got = elementAt(bytes.data(), type, result.element);
    }
    return result;
}

}  // namespace cuco_harness
