// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/manifest_values.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cuco {

namespace {

constexpr std::int64_t max_buffer_bytes = std::int64_t{64} << 30;

/// An expression with the field it comes from and the greatest value it may have.
struct CheckedField {
    std::string name;
    const SizeExpression* expression;
    std::int64_t limit;
};

std::vector<CheckedField> rooflineFields(const Workload& workload)
{
    return {{"roofline.flops", &workload.roofline.flops, INT64_MAX},
            {"roofline.hbm_bytes", &workload.roofline.hbm_bytes, INT64_MAX},
            {"roofline.link_bytes", &workload.roofline.link_bytes, INT64_MAX}};
}

std::vector<CheckedField> allFields(const Workload& workload)
{
    std::vector<CheckedField> fields = rooflineFields(workload);
    for (const auto& [list, buffers] :
         {std::pair("inputs", &workload.inputs), std::pair("outputs", &workload.outputs)}) {
        for (std::size_t i = 0; i < buffers->size(); ++i) {
            const BufferSpec& buffer = (*buffers)[i];
            fields.push_back({fmt::format("{}[{}].elements", list, i), &buffer.elements,
                              max_buffer_bytes / static_cast<std::int64_t>(bytesOf(buffer.type))});
        }
    }
    return fields;
}

Result<void> check(const std::vector<CheckedField>& fields, const SizeValues& values, const std::string& place,
                   const std::string& where)
{
    for (const CheckedField& field : fields) {
        const auto value = field.expression->evaluate(values);
        if (!value) {
            return failure(
                fmt::format("The field \"{}\" has no value for {}: {}", field.name, place, value.error().what), where);
        }
        if (*value < 0 || *value > field.limit) {
            return failure(fmt::format("The field \"{}\" is {} for {}; it must be from 0 to {}.", field.name, *value,
                                       place, field.limit),
                           where);
        }
    }
    return {};
}

}  // namespace

Result<void> checkManifestValues(const Workload& workload, const std::string& where)
{
    const std::vector<CheckedField> all = allFields(workload), roofline = rooflineFields(workload);
    const std::array<const std::vector<Shape>*, 6> lists{
        &workload.search_shapes,          &workload.verify_shapes,          &workload.validation_shapes,
        &workload.emulated_search_shapes, &workload.emulated_verify_shapes, &workload.emulated_validation_shapes};
    for (const auto* shapes : lists) {
        for (const Shape& shape : *shapes) {
            for (const int ranks : workload.ranks) {
                for (int rank = 0; rank < ranks; ++rank) {
                    const auto place = fmt::format("shape {}, rank {} of {}", shape.name, rank, ranks);
                    auto checked = check(all, sizeValues(shape.parameters, ranks, rank), place, where);
                    if (checked && shape.represents) {
                        checked = check(roofline, sizeValues(*shape.represents, ranks, rank), place + " as represented",
                                        where);
                    }
                    if (!checked) {
                        return checked;
                    }
                }
            }
        }
    }
    return {};
}

}  // namespace cuco
