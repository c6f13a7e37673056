// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The parts of the C++ standard library that multi-GPU programs use, for machines without its headers. Declarations
// only: their members say what is passed on, not what is done.
#include "float.h"
#include "limits.h"
#include "math.h"
#include "stdarg.h"
#include "stddef.h"
#include "stdint.h"
#include "stdio.h"
#include "stdlib.h"
#include "string.h"
#include "time.h"

#pragma clang force_cuda_host_device begin
namespace std {
using nullptr_t = decltype(nullptr);
struct nothrow_t {};
extern const nothrow_t nothrow;
template <class T>
class initializer_list {
    const T* first_;
    size_t count_;

public:
    const T* begin() const;
    const T* end() const;
    size_t size() const;
};
struct string {
    string();
    template <class... A>
    string(A...);
    const char* c_str() const;
    char* data() const;
    size_t size() const;
    bool empty() const;
    char* begin() const;
    char* end() const;
    char& operator[](size_t) const;
    string& operator+=(const string&);
};
string operator+(const string&, const string&);
string operator+(const char*, const string&);
string operator+(const string&, const char*);
bool operator==(const string&, const string&);
template <class T>
string to_string(T);
template <class T, class A = void>
struct vector {
    vector();
    vector(initializer_list<T>);
    explicit vector(size_t);
    vector(size_t, const T&);
    template <class I>
    vector(I, I);
    T* data() const;
    size_t size() const;
    bool empty() const;
    T* begin() const;
    T* end() const;
    T& operator[](size_t) const;
    T& at(size_t) const;
    T& front() const;
    T& back() const;
    void push_back(const T&);
    template <class... B>
    T& emplace_back(B&&...);
    void resize(size_t);
    void reserve(size_t);
    void clear();
};
template <class T, size_t n>
struct array {
    T elements[n];
    T* data() const;
    constexpr size_t size() const { return n; }
    T* begin() const;
    T* end() const;
    T& operator[](size_t) const;
};
template <class A, class B>
struct pair {
    A first;
    B second;
};
template <class T>
struct unique_ptr {
    unique_ptr();
    explicit unique_ptr(T*);
    T* get() const;
    T* release();
    T* operator->() const;
    T& operator*() const;
    explicit operator bool() const;
};
template <class T, class... A>
unique_ptr<T> make_unique(A&&...);
template <class T>
struct function;
template <class R, class... A>
struct function<R(A...)> {
    template <class F>
    function(F);
    R operator()(A...) const;
};
template <class T>
const T& min(const T&, const T&);
template <class T>
const T& max(const T&, const T&);
template <class T>
void swap(T&, T&);
template <class T>
T&& move(T&);
template <class I, class T>
void fill(I, I, const T&);
template <class I, class O>
O copy(I, I, O);
template <class I>
void sort(I, I);
template <class I, class F>
void sort(I, I, F);
template <class T>
struct numeric_limits {
    static constexpr T max() { return T(); }
    static constexpr T min() { return T(); }
    static constexpr T lowest() { return T(); }
    static constexpr T infinity() { return T(); }
};
template <class A, class B>
struct is_same {
    static constexpr bool value = false;
};
template <class A>
struct is_same<A, A> {
    static constexpr bool value = true;
};
template <class A, class B>
inline constexpr bool is_same_v = is_same<A, B>::value;
struct thread {
    thread();
    template <class F, class... A>
    explicit thread(F, A&&...);
    void join();
    void detach();
};
struct ostream {
    template <class T>
    ostream& operator<<(const T&);
};
extern ostream cout, cerr;
extern const char endl;
using ::abort;
using ::abs;
using ::ceil;
using ::exit;
using ::exp;
using ::fabs;
using ::fclose;
using ::fflush;
using ::FILE;
using ::floor;
using ::fopen;
using ::fprintf;
using ::free;
using ::fwrite;
using ::getenv;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::log;
using ::malloc;
using ::memcmp;
using ::memcpy;
using ::memset;
using ::pow;
using ::printf;
using ::ptrdiff_t;
using ::puts;
using ::size_t;
using ::snprintf;
using ::sqrt;
using ::strcmp;
using ::strlen;
using ::strncmp;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
}  // namespace std
void* operator new(size_t, void*) noexcept;
void* operator new(size_t, const std::nothrow_t&) noexcept;
void* operator new[](size_t, const std::nothrow_t&) noexcept;
#pragma clang force_cuda_host_device end
