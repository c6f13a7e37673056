// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CUDA's language and runtime as far as the analysis of a source needs them: declarations, never run. Every function is
// callable from both sides, so that code which is wrong in this respect is still understood.
#include <stddef.h>
#include <stdint.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDART_VERSION 12080
#define CUDART_CB
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()

#pragma clang force_cuda_host_device begin

// As nvcc does; inside, because kernels call them too. The macro asks libstdc++'s headers for those of C alone.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

#include "cuco_analysis/runtime_types.h"
#include "cuco_analysis/vectors.h"

#include "cuco_analysis/device_functions.h"
#include "cuco_analysis/runtime_functions.h"

#pragma clang force_cuda_host_device end
