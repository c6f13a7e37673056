// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// __syncthreads() is built in.
int __syncthreads_count(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);
void __syncwarp(unsigned mask = ~0u);
void __threadfence_block();
void __threadfence();
void __threadfence_system();
void __nanosleep(unsigned ns);
long long clock64();
long long clock();
unsigned long long globaltimer();
void __trap();
unsigned __activemask();
unsigned __ballot_sync(unsigned mask, int predicate);
int __any_sync(unsigned mask, int predicate);
int __all_sync(unsigned mask, int predicate);
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32);
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
template <class T>
unsigned __match_any_sync(unsigned mask, T value);
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all);
template <class T>
T __reduce_add_sync(unsigned mask, T value);
template <class T>
T __reduce_min_sync(unsigned mask, T value);
template <class T>
T __reduce_max_sync(unsigned mask, T value);
template <class T>
T __reduce_and_sync(unsigned mask, T value);
template <class T>
T __reduce_or_sync(unsigned mask, T value);

#define CUCO_ATOMIC(name)                 \
    template <class T, class U>           \
    T name(T* address, U value);          \
    template <class T, class U>           \
    T name##_block(T* address, U value);  \
    template <class T, class U>           \
    T name##_system(T* address, U value); \
    template <class T, class U>           \
    T name(volatile T* address, U value);
CUCO_ATOMIC(atomicAdd)
CUCO_ATOMIC(atomicSub)
CUCO_ATOMIC(atomicExch)
CUCO_ATOMIC(atomicMin)
CUCO_ATOMIC(atomicMax)
CUCO_ATOMIC(atomicAnd)
CUCO_ATOMIC(atomicOr)
CUCO_ATOMIC(atomicXor)
CUCO_ATOMIC(atomicInc)
CUCO_ATOMIC(atomicDec)
#undef CUCO_ATOMIC
template <class T, class U, class V>
T atomicCAS(T* address, U expected, V desired);
template <class T, class U, class V>
T atomicCAS_system(T* address, U expected, V desired);
template <class T, class U, class V>
T atomicCAS_block(T* address, U expected, V desired);

#define CUCO_LOAD(name) \
    template <class T>  \
    T name(const T* address);
CUCO_LOAD(__ldg)
CUCO_LOAD(__ldca)
CUCO_LOAD(__ldcg)
CUCO_LOAD(__ldcs)
CUCO_LOAD(__ldlu)
CUCO_LOAD(__ldcv)
#undef CUCO_LOAD
#define CUCO_STORE(name)        \
    template <class T, class U> \
    void name(T* address, U value);
CUCO_STORE(__stwb)
CUCO_STORE(__stcg)
CUCO_STORE(__stcs)
CUCO_STORE(__stwt)
#undef CUCO_STORE

#define CUCO_FAST(name) float __##name##f(float);
CUCO_FAST(exp)
CUCO_FAST(exp10)
CUCO_FAST(log)
CUCO_FAST(log2)
CUCO_FAST(log10)
CUCO_FAST(sin)
CUCO_FAST(cos)
CUCO_FAST(tan)
#undef CUCO_FAST
float rsqrtf(float);
float __powf(float, float);
float __fdividef(float, float);
float __frcp_rn(float);
float __fsqrt_rn(float);
float __frsqrt_rn(float);
float __fmaf_rn(float, float, float);
float __fadd_rn(float, float);
float __fmul_rn(float, float);
float __saturatef(float);
double rsqrt(double);
template <class T>
T min(T, T);
template <class T>
T max(T, T);
int __popc(unsigned);
int __popcll(unsigned long long);
int __clz(int);
int __clzll(long long);
int __ffs(int);
int __ffsll(long long);
unsigned __brev(unsigned);
unsigned __byte_perm(unsigned, unsigned, unsigned);
unsigned __funnelshift_r(unsigned, unsigned, unsigned);
unsigned __funnelshift_l(unsigned, unsigned, unsigned);
unsigned __umulhi(unsigned, unsigned);
int __mulhi(int, int);
int __mul24(int, int);
int __dp4a(int, int, int);
unsigned __float_as_uint(float);
int __float_as_int(float);
float __uint_as_float(unsigned);
float __int_as_float(int);
int __float2int_rn(float);
int __float2int_rz(float);
int __float2int_rd(float);
int __float2int_ru(float);
unsigned __float2uint_rn(float);
float __int2float_rn(int);
float __uint2float_rn(unsigned);
long long __double_as_longlong(double);
double __longlong_as_double(long long);
size_t __cvta_generic_to_shared(const void*);
size_t __cvta_generic_to_global(const void*);
