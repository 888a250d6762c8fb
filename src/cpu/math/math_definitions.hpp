// Not guarded: defines the vector functions of one instruction set under their names, stithy_exp_f64x8 and so on. The macros live here
// alone.

#define STITHY_JOIN_(name, type, lanes) stithy_##name##_##type##x##lanes
#define STITHY_JOIN(name, type, lanes) STITHY_JOIN_(name, type, lanes)
#define STITHY_MATH_1(name, body)                                                                                                          \
    extern "C" stithy::cpu::F64 STITHY_JOIN(name, f64, STITHY_LANES_F64)(stithy::cpu::F64 x) { return body(double, x); }                   \
    extern "C" stithy::cpu::F32 STITHY_JOIN(name, f32, STITHY_LANES_F32)(stithy::cpu::F32 x) { return body(float, x); }
#define STITHY_MATH_2(name, body)                                                                                                          \
    extern "C" stithy::cpu::F64 STITHY_JOIN(name, f64, STITHY_LANES_F64)(stithy::cpu::F64 x, stithy::cpu::F64 y) {                         \
        return body(double, x, y);                                                                                                         \
    }                                                                                                                                      \
    extern "C" stithy::cpu::F32 STITHY_JOIN(name, f32, STITHY_LANES_F32)(stithy::cpu::F32 x, stithy::cpu::F32 y) {                         \
        return body(float, x, y);                                                                                                          \
    }

#if STITHY_SIMD_BYTES == 64
#define STITHY_LIBRARY_POW _ZGVeN8vv_pow
#else
#define STITHY_LIBRARY_POW _ZGVdN4vv_pow
#endif
extern "C" {
stithy::cpu::F64 STITHY_LIBRARY_POW(stithy::cpu::F64 x, stithy::cpu::F64 y);
// The C library's, declared here so that no header brings inline functions into this file.
double sin(double);
double cos(double);
double tan(double);
double fmod(double, double);
float sinf(float);
float cosf(float);
float tanf(float);
float fmodf(float, float);
}

namespace stithy::cpu {
namespace {

// The scalar functions are called where an argument is too large for the vector one; a plain function, so that the vector one stays lean.
__attribute__((noinline, cold)) double call_scalar(double (*f)(double), double x) { return f(x); }
__attribute__((noinline, cold)) float call_scalar(float (*f)(float), float x) { return f(x); }
__attribute__((noinline, cold)) double call_fmod(double x, double y) { return ::fmod(x, y); }
__attribute__((noinline, cold)) float call_fmod(float x, float y) { return ::fmodf(x, y); }

STITHY_INLINE F64 vector_power(F64 x, F64 y) { return STITHY_LIBRARY_POW(x, y); }

struct ScalarSin {
    double operator()(double x) const { return call_scalar(&::sin, x); }
    float operator()(float x) const { return call_scalar(&::sinf, x); }
};
struct ScalarCos {
    double operator()(double x) const { return call_scalar(&::cos, x); }
    float operator()(float x) const { return call_scalar(&::cosf, x); }
};
struct ScalarTan {
    double operator()(double x) const { return call_scalar(&::tan, x); }
    float operator()(float x) const { return call_scalar(&::tanf, x); }
};

template <class T>
STITHY_INLINE Vector<T> vector_fmod(Vector<T> x, Vector<T> y) {
    return vector_remainder<T>(x, y, [](T a, T b) { return call_fmod(a, b); });
}

} // namespace
} // namespace stithy::cpu

#define STITHY_PLAIN_exp(type, x) stithy::cpu::vector_exp<type>(x)
#define STITHY_PLAIN_expm1(type, x) stithy::cpu::vector_expm1<type>(x)
#define STITHY_PLAIN_log(type, x) stithy::cpu::vector_log<type>(x)
#define STITHY_PLAIN_log1p(type, x) stithy::cpu::vector_log1p<type>(x)
#define STITHY_PLAIN_cbrt(type, x) stithy::cpu::vector_cbrt<type>(x)
#define STITHY_PLAIN_sin(type, x) stithy::cpu::vector_sin<type>(x, stithy::cpu::ScalarSin())
#define STITHY_PLAIN_cos(type, x) stithy::cpu::vector_cos<type>(x, stithy::cpu::ScalarCos())
#define STITHY_PLAIN_tan(type, x) stithy::cpu::vector_tan<type>(x, stithy::cpu::ScalarTan())
#define STITHY_PLAIN_tanh(type, x) stithy::cpu::vector_tanh<type>(x)
#define STITHY_PLAIN_logistic(type, x) stithy::cpu::vector_logistic<type>(x)
#define STITHY_PLAIN_rsqrt(type, x) stithy::cpu::vector_rsqrt<type>(x)
#define STITHY_PLAIN_atan2(type, x, y) stithy::cpu::vector_atan2<type>(x, y)
#define STITHY_PLAIN_power(type, x, y) stithy::cpu::vector_power(x, y)
#define STITHY_PLAIN_remainder(type, x, y) stithy::cpu::vector_fmod<type>(x, y)

STITHY_MATH_1(exp, STITHY_PLAIN_exp)
STITHY_MATH_1(expm1, STITHY_PLAIN_expm1)
STITHY_MATH_1(log, STITHY_PLAIN_log)
STITHY_MATH_1(log1p, STITHY_PLAIN_log1p)
STITHY_MATH_1(cbrt, STITHY_PLAIN_cbrt)
STITHY_MATH_1(sin, STITHY_PLAIN_sin)
STITHY_MATH_1(cos, STITHY_PLAIN_cos)
STITHY_MATH_1(tan, STITHY_PLAIN_tan)
STITHY_MATH_1(tanh, STITHY_PLAIN_tanh)
STITHY_MATH_1(logistic, STITHY_PLAIN_logistic)
STITHY_MATH_1(rsqrt, STITHY_PLAIN_rsqrt)
STITHY_MATH_2(atan2, STITHY_PLAIN_atan2)
STITHY_MATH_2(power, STITHY_PLAIN_power)
STITHY_MATH_2(remainder, STITHY_PLAIN_remainder)
