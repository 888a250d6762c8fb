#pragma once
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace stithy::runtime {

/// While it lives, floating-point arithmetic of this thread rounds to nearest and keeps subnormals, whatever the host program
/// has set (a library built with -ffast-math may have set flush-to-zero). Whoever runs compiled code opens one, so that
/// results do not depend on the thread.
class DefaultFloatMode {
public:
#if defined(__x86_64__)
    DefaultFloatMode() noexcept : before_(_mm_getcsr()) {
        if ((before_ & control_bits) != (plain & control_bits)) _mm_setcsr((before_ & ~control_bits) | plain);
    }
    ~DefaultFloatMode() {
        if ((before_ & control_bits) != (plain & control_bits)) _mm_setcsr((_mm_getcsr() & ~control_bits) | (before_ & control_bits));
    }
#else
    DefaultFloatMode() noexcept = default;
#endif
    DefaultFloatMode(const DefaultFloatMode&) = delete;
    DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

private:
#if defined(__x86_64__)
    static constexpr unsigned plain = 0x1f80;        // all exceptions masked, round to nearest, subnormals kept
    static constexpr unsigned control_bits = 0xffc0; // masks, rounding, flush-to-zero, denormals-are-zero
    unsigned before_;
#endif
};

} // namespace stithy::runtime
