// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.h"
#include "wire.h"

namespace cuco_harness {

inline std::string packFailure(const Failure& failure)
{
    return Packer()
        .text(failure.kind)
        .text(failure.message)
        .text(failure.detail)
        .text(failure.shape)
        .number(int64_t(failure.rank))
        .number(int64_t(failure.line))
        .bytes();
}

inline Failure unpackFailure(const std::string& bytes)
{
    Unpacker fields(bytes);
    Failure failure;
    failure.kind = fields.text();
    failure.message = fields.text();
    failure.detail = fields.text();
    failure.shape = fields.text();
    failure.rank = int(fields.number());
    failure.line = int(fields.number());
    return failure;
}

}  // namespace cuco_harness
