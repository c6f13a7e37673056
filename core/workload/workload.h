// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/workload/program.h"
#include "core/workload/size_expression.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cuco {

enum class ElementType { bf16, f16, f32, i32 };
std::size_t bytesOf(ElementType type);
std::string_view toString(ElementType type);

/// A named problem size. `represents` is set on shapes for the emulated node: the real shape whose
/// proportions the modelled GPU is scaled to, so that modelled times are those of that shape.
struct Shape {
    std::string name;
    SizeValues parameters;
    std::optional<SizeValues> represents;
};

/// One buffer of a rank. `elements` may use the parameters, `ranks` and `rank`.
struct BufferSpec {
    std::string name;
    ElementType type = ElementType::f32;
    SizeExpression elements;
};

struct Tolerance {
    double relative_l2 = 0;  ///< ‖out − ref‖ / ‖ref‖ over a rank's output
    double max_error = 0;    ///< |out − ref| of one element, relative to max(|ref|, rms of all ref)
};

/// What a rank must at least do for a shape: the roofline. All per rank.
struct Roofline {
    SizeExpression flops, hbm_bytes, link_bytes;
};

struct Strategy {
    std::string name;  ///< file name without extension
    std::filesystem::path file;
};

/// A host-driven way to do the same, beside host.cu. Candidates are compared with the fastest.
struct HostBaseline {
    std::string name;
    std::filesystem::path file;
    bool gpu_only = false;  ///< needs what the emulator does not have
};

struct Workload {
    std::string name, title, summary;
    std::filesystem::path folder;
    std::vector<std::string> parameters;   ///< in the order the candidate sees them in cuco_context::shape
    std::vector<int> ranks;                ///< rank counts it is made for; the first is the default
    ElementType dtype = ElementType::f32;  ///< of the arithmetic that the roofline's FLOPs mean
    std::vector<BufferSpec> inputs, outputs;
    Tolerance tolerance;
    Roofline roofline;
    std::vector<Shape> search_shapes, verify_shapes, validation_shapes;  ///< for GPUs
    std::vector<Shape> emulated_search_shapes, emulated_verify_shapes, emulated_validation_shapes;
    std::filesystem::path host_source, seed_source, reference_source;
    std::vector<std::filesystem::path> headers;  ///< that its sources, candidates too, may include by name
    std::vector<HostBaseline> baselines;         ///< host.cu not among them
    std::filesystem::path compute_alone_source;  ///< the same without communication, never verified; empty: none
    /// It computes as fast as the hardware lets anybody: by the vendor's library. False: by a kernel of the workload's
    /// own, which a candidate may beat.
    bool compute_alone_bounds = true;
    std::vector<Strategy> strategies;
    std::chrono::seconds compile_timeout{120}, run_timeout{60};
    /// Kind "program": then there are no buffers, no roofline and no oracle, and one shape without parameters.
    std::optional<ProgramSpec> program;
};

/// Reads and checks `folder`/workload.json and that the files it names are there and
/// inside the folder. Every expression has a value for all its shapes, rank counts and ranks; a buffer has at
/// most 64 GiB. The error names the field that is missing, unknown, or contradicts another.
Result<Workload> loadWorkload(const std::filesystem::path& folder);

/// Every folder below `root` with a workload.json, by name; one that does not load is an error.
Result<std::vector<Workload>> loadWorkloads(const std::filesystem::path& root);

/// Among the shapes for GPUs, or those for the emulated node: both kinds may use the same names.
Result<Shape> findShape(const Workload& workload, const std::string& name, bool emulated);

/// What the search never times: a promotion is measured on them. For a program, which has no other, its one shape. An
/// error when the workload has none for that kind of node.
Result<std::vector<Shape>> heldBackShapes(const Workload& workload, bool emulated);

/// What a manifest's expressions may use: the parameters, `ranks` and `rank`.
SizeValues sizeValues(const SizeValues& parameters, int ranks, int rank);

/// Rates of a node's GPU. `source` says where they come from: "modelled", "measured …".
struct DeviceRates {
    double flops_per_s = 0;  ///< dense, of the workload's type, by the best library
    double hbm_bytes_per_s = 0;
    double link_bytes_per_s = 0;  ///< out of one GPU
    std::string source;
};

/// max(flops / rate, HBM bytes / rate, link bytes / rate) of the slowest rank, in µs. For a shape that
/// represents another, of the represented one.
Result<double> boundUs(const Workload& workload, const Shape& shape, int ranks, const DeviceRates& rates);

}  // namespace cuco
