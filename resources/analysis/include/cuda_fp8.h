// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#pragma clang force_cuda_host_device begin
struct __nv_fp8_e4m3 {
    unsigned char __x;
    __nv_fp8_e4m3() = default;
    template <class T>
    explicit __nv_fp8_e4m3(T value);
    operator float() const;
};
struct __nv_fp8_e5m2 {
    unsigned char __x;
    __nv_fp8_e5m2() = default;
    template <class T>
    explicit __nv_fp8_e5m2(T value);
    operator float() const;
};
#pragma clang force_cuda_host_device end
