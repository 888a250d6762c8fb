// Not guarded: switches the compiler to the instruction set of STITHY_SIMD_BYTES until cpu/simd_end.hpp. See cpu/simd.hpp.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#if !defined(__clang__) // g++ 12 reports its own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#if defined(__clang__)
#if STITHY_SIMD_BYTES == 64
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512cd,avx2,fma,bmi,bmi2"))), apply_to = function)
#elif STITHY_SIMD_BYTES == 32
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2"))), apply_to = function)
#endif
#else
#pragma GCC push_options
#if STITHY_SIMD_BYTES == 64
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx512cd,avx2,fma,bmi,bmi2,prefer-vector-width=512")
#elif STITHY_SIMD_BYTES == 32
#pragma GCC target("avx2,fma,bmi,bmi2")
#endif
#endif
