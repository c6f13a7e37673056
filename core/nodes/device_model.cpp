// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/device_model.h"

#include "core/base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

namespace cuco {

namespace {

/// "figure value # where from", one a line.
std::map<std::string, std::string> readFigures(const std::string& text)
{
    std::map<std::string, std::string> figures;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string name, value;
        if (words >> name && std::getline(words >> std::ws, value))
            figures[name] = value.substr(0, value.find_last_not_of(" \t\r") + 1);
    }
    return figures;
}

}  // namespace

Result<DeviceRates> readDeviceModel(const std::filesystem::path& model_file)
{
    const auto text = readFile(model_file, 1u << 20);
    if (!text)
        return std::unexpected(text.error());
    const auto figures = readFigures(*text);
    std::string missing;
    const auto figure = [&](const char* name) {
        const auto found = figures.find(name);
        const double value = found == figures.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
        if (!(value > 0) || !std::isfinite(value))
            missing = name;
        return value;
    };
    // A bound takes the best that any way of computing or moving bytes can do.
    DeviceRates rates;
    rates.flops_per_s = std::max(figure("gemm_tflops"), figure("wmma_tflops")) * 1e12;
    rates.hbm_bytes_per_s = figure("hbm_gbps") * 1e9;
    rates.link_bytes_per_s =
        std::max({figure("link_copy_gbps"), figure("link_store_gbps"), figure("link_load_gbps")}) * 1e9;
    if (!missing.empty())
        return failure(fmt::format("The model of the GPU has no positive \"{}\".", missing), model_file.string(),
                       "Correct the file, or install the product again.");
    const auto name = figures.find("device_name");
    rates.source = name == figures.end() ? "modelled" : name->second;
    return rates;
}

}  // namespace cuco
