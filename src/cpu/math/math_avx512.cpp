#define STITHY_SIMD_BYTES 64
#include "cpu/math/math_functions.hpp"

#include <cstdint>
#include <immintrin.h>

#include "cpu/simd_begin.hpp"

#include "cpu/math/exponentials.hpp"
#include "cpu/math/logarithms.hpp"
#include "cpu/math/powers.hpp"
#include "cpu/math/roots.hpp"
#include "cpu/math/trigonometry.hpp"

#define STITHY_LANES_F64 8
#define STITHY_LANES_F32 16
#include "cpu/math/math_definitions.hpp"

#include "cpu/simd_end.hpp"
