// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace cuco {

std::size_t bytesOf(ElementType type)
{
    return type == ElementType::bf16 || type == ElementType::f16 ? 2 : 4;
}

std::string_view toString(ElementType type)
{
    switch (type) {
        case ElementType::bf16:
            return "bf16";
        case ElementType::f16:
            return "f16";
        case ElementType::f32:
            return "f32";
        case ElementType::i32:
            break;
    }
    return "i32";
}

SizeValues sizeValues(const SizeValues& parameters, int ranks, int rank)
{
    SizeValues values = parameters;
    values["ranks"] = ranks;
    values["rank"] = rank;
    return values;
}

Result<Shape> findShape(const Workload& workload, const std::string& name, bool emulated)
{
    std::vector<const std::vector<Shape>*> lists{&workload.search_shapes, &workload.verify_shapes,
                                                 &workload.validation_shapes};
    if (emulated) {
        lists = {&workload.emulated_search_shapes, &workload.emulated_verify_shapes,
                 &workload.emulated_validation_shapes};
    }
    std::vector<std::string_view> names;
    for (const auto* shapes : lists) {
        for (const Shape& shape : *shapes) {
            if (shape.name == name) {
                return shape;
            }
            names.push_back(shape.name);
        }
    }
    return failure(fmt::format("The workload {} has no shape \"{}\"{}.", workload.name, name,
                               emulated ? " for the emulated node" : ""),
                   {}, fmt::format("Choose one of {}.", fmt::join(names, ", ")));
}

Result<std::vector<Shape>> heldBackShapes(const Workload& workload, bool emulated)
{
    if (workload.program) {
        return workload.search_shapes;
    }
    const auto& shapes = emulated ? workload.emulated_validation_shapes : workload.validation_shapes;
    if (shapes.empty()) {
        return failure(fmt::format("The workload {} holds no shapes back{}.", workload.name,
                                   emulated ? " for the emulated node" : ""),
                       (workload.folder / "workload.json").string(),
                       fmt::format("Give its manifest \"{}\" shapes, which the search does not time.",
                                   emulated ? "emulated_validation" : "validation"));
    }
    return shapes;
}

Result<double> boundUs(const Workload& workload, const Shape& shape, int ranks, const DeviceRates& rates)
{
    struct Term {
        const char* what;
        const SizeExpression* amount;
        double rate;
    };
    const std::array<Term, 3> terms{{{"FLOP/s", &workload.roofline.flops, rates.flops_per_s},
                                     {"HBM bytes/s", &workload.roofline.hbm_bytes, rates.hbm_bytes_per_s},
                                     {"link bytes/s", &workload.roofline.link_bytes, rates.link_bytes_per_s}}};
    const SizeValues& parameters = shape.represents ? *shape.represents : shape.parameters;
    double bound_us = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const SizeValues values = sizeValues(parameters, ranks, rank);
        for (const Term& term : terms) {
            const auto amount = term.amount->evaluate(values);
            if (!amount) {
                return std::unexpected(amount.error());
            }
            if (*amount > 0 && !(term.rate > 0)) {
                return failure(
                    fmt::format("The bound of {} needs the node's {}, which are not known.", workload.name, term.what));
            }
            if (*amount > 0) {
                bound_us = std::max(bound_us, 1e6 * static_cast<double>(*amount) / term.rate);
            }
        }
    }
    return bound_us;
}

}  // namespace cuco
