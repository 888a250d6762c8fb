// Not guarded: ends what cpu/simd_begin.hpp began.
#if defined(__clang__)
#if STITHY_SIMD_BYTES > 16
#pragma clang attribute pop
#endif
#else
#pragma GCC pop_options
#endif
#pragma GCC diagnostic pop
