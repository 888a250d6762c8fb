#pragma once
#include <cstddef>

/// Coefficients of the elementary functions' polynomials, lowest power first. Found by least squares on Chebyshev points, reweighted
/// towards the smallest largest relative error (Lawson), one coefficient rounded after the other and the rest fitted again. The errors
/// given are relative to the function's leading term.
namespace stithy::cpu {
namespace {

template <class T, std::size_t Count>
struct Coefficients {
    T at[Count];
    static constexpr std::size_t count = Count;
};

template <class T, class... Values>
constexpr Coefficients<T, sizeof...(Values)> coefficients(Values... values) {
    return {{values...}};
}

template <class T>
constexpr int exp_terms = 0;
/// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2: error 2^-61.4.
template <>
constexpr auto exp_terms<double> =
    coefficients<double>(0x1.0p-1, 0x1.5555555555559p-3, 0x1.5555555555557p-5, 0x1.111111110f648p-7, 0x1.6c16c16c1571dp-10,
                         0x1.a01a01b00a9b1p-13, 0x1.a01a01ab5a5fcp-16, 0x1.71ddf7fb0d668p-19, 0x1.27e4d069b62ddp-22, 0x1.af5f51e2d1074p-26,
                         0x1.1f84f3f140478p-29);
/// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2: error 2^-31.1.
template <>
constexpr auto exp_terms<float> =
    coefficients<float>(0x1.0p-1F, 0x1.555556p-3F, 0x1.5554f6p-5F, 0x1.111p-7F, 0x1.6d3bf2p-10F, 0x1.a24a32p-13F);
template <class T>
constexpr int log_terms = 0;
/// (log1p(r) - r + r^2/2) / r^3, for -1/32 <= r <= 1/16 in f64, -1/4 <= r <= 1/2 in f32: error 2^-61.6.
template <>
constexpr auto log_terms<double> =
    coefficients<double>(0x1.555555555556dp-2, -0x1.0000000000e05p-2, 0x1.999999995d0ep-3, -0x1.55555536734b4p-3, 0x1.2492496f6a5fap-3,
                         -0x1.0000a80998b6bp-3, 0x1.c72cf92cdcd4fp-4, -0x1.97a2b2e6fc08ap-4, 0x1.417678476ca74p-4);
/// (log1p(r) - r + r^2/2) / r^3, for -1/32 <= r <= 1/16 in f64, -1/4 <= r <= 1/2 in f32: error 2^-27.6.
template <>
constexpr auto log_terms<float> = coefficients<float>(0x1.5555a4p-2F, -0x1.000074p-2F, 0x1.996a24p-3F, -0x1.54e084p-3F, 0x1.285d98p-3F,
                                                      -0x1.0ep-3F, 0x1.b065b2p-4F, -0x1.780dcep-5F);
/// log((1+s)/(1-s)) = 2 s + s^3 G(s^2) for |s| <= 0.2: error 2^-62.5.
constexpr auto log_quotient_terms =
    coefficients<double>(0x1.555555555554fp-1, 0x1.999999999c187p-2, 0x1.24924921e348bp-2, 0x1.c71c7490a5af5p-3, 0x1.745c4aa9723eep-3,
                         0x1.3b35c69c23583p-3, 0x1.0dcb3d6dadc52p-3, 0x1.1b83b27f59727p-3);
/// As log_terms<double>, for a result that is wanted in f32 after more arithmetic: error 2^-39.4.
constexpr auto log_short_terms =
    coefficients<double>(0x1.555554f9fc58ap-2, -0x1.00000b6647c5dp-2, 0x1.99a1f472e5556p-3, -0x1.552f893f419dfp-3, 0x1.0ce127187292p-3);
template <class T>
constexpr int sin_wide = 0;
/// (sin(r)/r - 1) / r^2 by r^2, |r| <= pi/2: error 2^-61.6.
template <>
constexpr auto sin_wide<double> =
    coefficients<double>(-0x1.5555555555555p-3, 0x1.11111111110cbp-7, -0x1.a01a01a01515cp-13, 0x1.71de3a52bfcc8p-19, -0x1.ae6454e3b3d31p-26,
                         0x1.6123d0fced3dbp-33, -0x1.ae448fbf7a969p-41, 0x1.884ed7e7c377ap-49);
/// (sin(r)/r - 1) / r^2 by r^2, |r| <= pi/2: error 2^-31.2.
template <>
constexpr auto sin_wide<float> = coefficients<float>(-0x1.555556p-3F, 0x1.111138p-7F, -0x1.a024d8p-13F, 0x1.72f89ep-19F, -0x1.ba69b6p-26F);
template <class T>
constexpr int sin_terms = 0;
/// (sin(r)/r - 1) / r^2 by r^2, |r| <= pi/4: error 2^-63.2.
template <>
constexpr auto sin_terms<double> =
    coefficients<double>(-0x1.5555555555555p-3, 0x1.1111111111068p-7, -0x1.a01a019ffdfeep-13, 0x1.71de3a3315757p-19, -0x1.ae642b75e16d4p-26,
                         0x1.610923c808b46p-33, -0x1.9facdfe154725p-41);
/// (sin(r)/r - 1) / r^2 by r^2, |r| <= pi/4: error 2^-32.5.
template <>
constexpr auto sin_terms<float> = coefficients<float>(-0x1.555556p-3F, 0x1.111176p-7F, -0x1.a05b82p-13F, 0x1.7cbd76p-19F);
template <class T>
constexpr int cos_terms = 0;
/// (cos(r) - 1 + r^2/2) / r^4 by r^2, |r| <= pi/4: error 2^-63.9.
template <>
constexpr auto cos_terms<double> = coefficients<double>(0x1.555555555554cp-5, -0x1.6c16c16c1521dp-10, 0x1.a01a019cbeeb5p-16,
                                                        -0x1.27e4f8122b94bp-22, 0x1.1ee9f0cfe19cp-29, -0x1.8fb0db554919ap-37);
/// (cos(r) - 1 + r^2/2) / r^4 by r^2, |r| <= pi/4: error 2^-33.1.
template <>
constexpr auto cos_terms<float> = coefficients<float>(0x1.55554ap-5F, -0x1.6c0c2p-10F, 0x1.99e4a8p-16F);
template <class T>
constexpr int atan_terms = 0;
/// (atan(r)/r - 1) / r^2 by r^2, |r| <= tan(pi/8): error 2^-63.8.
template <>
constexpr auto atan_terms<double> =
    coefficients<double>(-0x1.5555555555554p-2, 0x1.999999999958cp-3, -0x1.249249246fcbcp-3, 0x1.c71c71b4a39d3p-4, -0x1.745d145ceeb44p-4,
                         0x1.3b1366368e87bp-4, -0x1.110c0058a9686p-4, 0x1.e16978f846cb5p-5, -0x1.ab4802bcf541bp-5, 0x1.70193da7b37bcp-5,
                         -0x1.1056549c35feep-5, 0x1.ea74e930ee714p-7);
/// (atan(r)/r - 1) / r^2 by r^2, |r| <= tan(pi/8): error 2^-30.3.
template <>
constexpr auto atan_terms<float> = coefficients<float>(-0x1.55554ap-2F, 0x1.9991e6p-3F, -0x1.23ba04p-3F, 0x1.b22b2cp-4F, -0x1.f30f2p-5F);
template <class T>
constexpr int cube_terms = 0;
/// m^(-1/3) for 1 <= m <= 2: error 2^-14.7.
template <>
constexpr auto cube_terms<double> =
    coefficients<double>(0x1.ab72055f88006p+0, -0x1.2c0b16b8390cfp+0, 0x1.63a5d1bc96fb8p-1, -0x1.c45005c5c7a65p-3, 0x1.d369de6d5a90fp-6);
/// m^(-1/3) for 1 <= m <= 2: error 2^-14.7.
template <>
constexpr auto cube_terms<float> = coefficients<float>(0x1.ab7206p+0F, -0x1.2c0b18p+0F, 0x1.63a5d4p-1F, -0x1.c4500ap-3F, 0x1.d369e4p-6F);
template <class T>
constexpr int exp_short_terms = 0;
/// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 32: error 2^-56.2 of exp(r).
template <>
constexpr auto exp_short_terms<double> =
    coefficients<double>(0x1.0000000000005p-1, 0x1.55555554906c4p-3, 0x1.5555555466715p-5, 0x1.111239a2c1d69p-7, 0x1.6c1853e455d58p-10);
/// The same for f32, |r| <= log(2) / 16: error 2^-32.5.
template <>
constexpr auto exp_short_terms<float> = coefficients<float>(0x1.0p-1F, 0x1.555c72p-3F, 0x1.55593p-5F);
template <class T>
constexpr int tanh_terms = 0;
/// (tanh(u)/u - 1) / u^2 by u^2, |u| <= log(2) / 4: error 2^-65 in f64, 2^-32 in f32.
template <>
constexpr auto tanh_terms<double> =
    coefficients<double>(-0x1.5555555555555p-2, 0x1.1111111110e25p-3, -0x1.ba1ba1b92e299p-5, 0x1.664f477372c21p-6, -0x1.226d9376eb0f2p-7,
                         0x1.d66ad6313a09dp-9, -0x1.6c0f350bac5f3p-10);
template <>
constexpr auto tanh_terms<float> = coefficients<float>(-0x1.55554ep-2F, 0x1.11059ep-3F, -0x1.afdf22p-5F);
/// The same for 0 <= u <= log(2) / 32: error 2^-56.5.
constexpr auto tanh_short_terms = coefficients<double>(-0x1.555555555382bp-2, 0x1.11111058e4ca8p-3, -0x1.b9f24d8269db2p-5);
/// ((1 - j/32) 2^(j/16) - 1) tanh_table_factor for j = -i mod 16. The factor is the one of a thousand with which tanh's largest error is
/// least.
constexpr double tanh_table_factor = 1.775390625;
constexpr double tanh_sixteenths[16] = {0.0,
                                        0x1.fbafdeca7bb9ap-6,
                                        0x1.cc0528df5c0d3p-5,
                                        0x1.370ec9b776611p-4,
                                        0x1.73bf981a58819p-4,
                                        0x1.9da998b98993ap-4,
                                        0x1.b648741af806cp-4,
                                        0x1.bf00455b25d6cp-4,
                                        0x1.b91eeabaaac00p-4,
                                        0x1.a5dd4478965bfp-4,
                                        0x1.866062df09fe4p-4,
                                        0x1.5bbaa45c14d07p-4,
                                        0x1.26ecc4761b19bp-4,
                                        0x1.d1cdb8c1aa781p-5,
                                        0x1.4512abdc6aac3p-5,
                                        0x1.52974634f69c9p-6};
/// 2^(j/16), and 2^(j/8).
constexpr double exp2_sixteenths[16] = {0x1.0p+0,
                                        0x1.0b5586cf9890fp+0,
                                        0x1.172b83c7d517bp+0,
                                        0x1.2387a6e756238p+0,
                                        0x1.306fe0a31b715p+0,
                                        0x1.3dea64c123422p+0,
                                        0x1.4bfdad5362a27p+0,
                                        0x1.5ab07dd485429p+0,
                                        0x1.6a09e667f3bcdp+0,
                                        0x1.7a11473eb0187p+0,
                                        0x1.8ace5422aa0dbp+0,
                                        0x1.9c49182a3f09p+0,
                                        0x1.ae89f995ad3adp+0,
                                        0x1.c199bdd85529cp+0,
                                        0x1.d5818dcfba487p+0,
                                        0x1.ea4afa2a490dap+0};
constexpr float exp2_sixteenths_f32[16] = {0x1.0p+0F,      0x1.0b5586p+0F, 0x1.172b84p+0F, 0x1.2387a6p+0F, 0x1.306fep+0F,  0x1.3dea64p+0F,
                                           0x1.4bfdaep+0F, 0x1.5ab07ep+0F, 0x1.6a09e6p+0F, 0x1.7a1148p+0F, 0x1.8ace54p+0F, 0x1.9c4918p+0F,
                                           0x1.ae89fap+0F, 0x1.c199bep+0F, 0x1.d5818ep+0F, 0x1.ea4afap+0F};
/// The two tables for sums with an exponent whose sixteenths, j, stand in the highest bits of the fraction: j is taken off there.
template <class T>
struct Sixteenths {
    T at[16];
};
template <class T, class Bits, int Shift>
constexpr Sixteenths<T> less_sixteenths(const T* table) {
    Sixteenths<T> less{};
    for (int j = 0; j < 16; ++j) less.at[j] = __builtin_bit_cast(T, __builtin_bit_cast(Bits, table[j]) - (static_cast<Bits>(j) << Shift));
    return less;
}
template <class T>
constexpr int exp2_sixteenths_less = 0;
template <>
constexpr auto exp2_sixteenths_less<double> = less_sixteenths<double, long, 48>(exp2_sixteenths);
template <>
constexpr auto exp2_sixteenths_less<float> = less_sixteenths<float, int, 19>(exp2_sixteenths_f32);
constexpr float exp2_eighths_f32[8] = {0x1.0p+0F,      0x1.172b84p+0F, 0x1.306fep+0F,  0x1.4bfdaep+0F,
                                       0x1.6a09e6p+0F, 0x1.8ace54p+0F, 0x1.ae89fap+0F, 0x1.d5818ep+0F};
/// 1/m by the first four bits of m's fraction, 3/4 <= m < 3/2; 1 next to m = 1. Few bits, so that a product with m loses nothing.
constexpr double log_inverse[16] = {0x1.0p+0,  0x1.d4p-1, 0x1.bbp-1, 0x1.a4p-1, 0x1.9p-1,  0x1.7dp-1, 0x1.6cp-1, 0x1.5dp-1,
                                    0x1.4ep+0, 0x1.41p+0, 0x1.35p+0, 0x1.2ap+0, 0x1.1fp+0, 0x1.16p+0, 0x1.0dp+0, 0x1.0p+0};
/// -log of log_inverse: a multiple of 2^-42
constexpr double log_high[16] = {0x0.0p+0,           0x1.700d30aeacp-4,  0x1.28753bc11ap-3,  0x1.95a5adcf7p-3,
                                 0x1.f991c6cb3cp-3,  0x1.2e9e2bce12p-2,  0x1.5d5bddf596p-2,  0x1.8873658328p-2,
                                 -0x1.1058bf9ae5p-2, -0x1.cf6354e09cp-3, -0x1.815c0a1436p-3, -0x1.371fc201e8p-3,
                                 -0x1.d4313d66ccp-4, -0x1.51b073f06p-4,  -0x1.95c830ec9p-5,  0x0.0p+0};
/// and the rest.
constexpr double log_low[16] = {0x0.0p+0,
                                0x1.c1e8da99ded32p-49,
                                0x1.7494e359302e6p-44,
                                0x1.7f22858a0ff6fp-47,
                                -0x1.90d04cd7cc834p-44,
                                0x1.4300c128d1dc2p-45,
                                -0x1.a0b2a08a465dcp-47,
                                -0x1.988e21f7fc497p-45,
                                0x1.4ab9d817d52cdp-44,
                                -0x1.771239a07d55bp-45,
                                0x1.02a52f9201ce8p-44,
                                -0x1.ee8779b2d8abcp-44,
                                0x1.9454379135713p-45,
                                -0x1.83f69278e686ap-44,
                                0x1.c148297c5feb8p-45,
                                0x0.0p+0};
/// log(2) in two parts for the sum with log_high, which is exact.
constexpr double log2_high = 0x1.62e42fefa38p-1, log2_low = 0x1.ef35793c7673p-45;
constexpr float log2_high_f32 = 0x1.62e4p-1F, log2_low_f32 = 0x1.7f7d1cp-20F;
/// Constants in parts of the type's full precision.
template <class T>
struct Parts {
    T high, middle, low;
};
template <class T>
constexpr int log2_parts = 0;
template <>
constexpr Parts<double> log2_parts<double> = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111};
template <>
constexpr Parts<float> log2_parts<float> = {0x1.62e43p-1F, -0x1.05c61p-29F, -0x1.950d88p-54F};
template <class T>
constexpr int half_pi_parts = 0;
template <>
constexpr Parts<double> half_pi_parts<double> = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
template <>
constexpr Parts<float> half_pi_parts<float> = {0x1.921fb6p+0F, -0x1.777a5cp-25F, -0x1.ee59dap-50F};
template <class T>
constexpr int quarter_pi_parts = 0;
template <>
constexpr Parts<double> quarter_pi_parts<double> = {0x1.921fb54442d2p-1, -0x1.ee59d9cceba4p-51, 0};
template <>
constexpr Parts<float> quarter_pi_parts<float> = {0x1.921fcp-1F, -0x1.5777a6p-22F, 0};

} // namespace
} // namespace stithy::cpu
