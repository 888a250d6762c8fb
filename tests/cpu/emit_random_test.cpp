#include "emit_support.hpp"

#include <cstdlib>
#include <random>

/// Random bodies run in vector lanes and one iteration after the other: both must give the same bits, on every level.

using namespace stithy;
using ir::OpCode;
using plan::LoopKind;
using plan::NestBuilder;
using plan::NestValue;

namespace {

constexpr std::int64_t extent = 97; // of every array
const std::vector<DType> dtypes = {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64};

class RandomBody {
public:
    RandomBody(unsigned seed, LoopKind kind) : random_(seed), kind_(kind) {}

    plan::Nest make() {
        counter_ = b_.loop(kind_, b_.range_begin(), b_.range_end());
        known_.push_back({});
        for (DType t : dtypes) known_.back().push_back(b_.load(t, input(t), counter_));
        known_.back().push_back(counter_);
        block(25, 0);
        for (std::size_t k = 0; k < dtypes.size(); ++k) b_.store(dtypes[k], b_.buffer(11 + k), counter_, pick(dtypes[k]));
        b_.end();
        return b_.finish();
    }

private:
    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

    NestValue input(DType t) {
        for (std::size_t k = 0; k < dtypes.size(); ++k) {
            if (dtypes[k] == t) return b_.buffer(k);
        }
        return 0;
    }

    NestValue pick(DType t) {
        std::vector<NestValue> fitting;
        for (const auto& scope : known_) {
            for (NestValue v : scope) {
                if (b_.dtype(v) == t) fitting.push_back(v);
            }
        }
        return fitting[fitting.size() - 1 - below(static_cast<unsigned>(std::min<std::size_t>(fitting.size(), 6)))];
    }

    void learn(NestValue v) { known_.back().push_back(v); }
    DType any() { return dtypes[below(static_cast<unsigned>(dtypes.size()))]; }

    /// An index inside every array: side by side, reversed, strided or anywhere.
    NestValue index() {
        switch (below(5)) {
        case 0: return counter_;
        case 1: return b_.apply(OpCode::subtract, i64, b_.fixed_int(extent - 1), counter_);
        case 2: return b_.apply(OpCode::remainder, i64, b_.mul(counter_, b_.param(0)), b_.fixed_int(extent));
        case 3: return b_.param(1);
        default:
            return b_.apply(OpCode::convert, i64,
                            b_.apply(OpCode::remainder, u32, pick(u32), b_.fixed(u32, static_cast<std::uint64_t>(extent))));
        }
    }

    void operation() {
        const DType t = any();
        static const std::vector<OpCode> of_bool = {OpCode::and_,     OpCode::or_,     OpCode::xor_,   OpCode::add,
                                                    OpCode::multiply, OpCode::maximum, OpCode::minimum};
        static const std::vector<OpCode> of_int = {OpCode::add,
                                                   OpCode::subtract,
                                                   OpCode::multiply,
                                                   OpCode::divide,
                                                   OpCode::remainder,
                                                   OpCode::maximum,
                                                   OpCode::minimum,
                                                   OpCode::and_,
                                                   OpCode::xor_,
                                                   OpCode::shift_left,
                                                   OpCode::shift_right_arithmetic,
                                                   OpCode::shift_right_logical};
        static const std::vector<OpCode> of_float = {OpCode::add,    OpCode::subtract, OpCode::multiply,
                                                     OpCode::divide, OpCode::maximum,  OpCode::minimum};
        const auto& ops = t.is_bool() ? of_bool : t.is_floating() ? of_float : of_int;
        learn(b_.apply(ops[below(static_cast<unsigned>(ops.size()))], t, pick(t), pick(t)));
    }

    void branch(unsigned depth) {
        const DType t = any();
        const NestValue v = b_.variable(t, pick(t));
        b_.if_(pick(boolean));
        known_.push_back({});
        block(4, depth + 1);
        b_.set(v, pick(t));
        known_.pop_back();
        if (below(2)) {
            b_.else_();
            known_.push_back({});
            block(3, depth + 1);
            b_.set(v, pick(t));
            known_.pop_back();
        }
        b_.end();
        learn(b_.get(v));
    }

    void inner_loop(unsigned depth) {
        const DType t = below(2) ? f64 : i32;
        const NestValue r = b_.reduction(below(2) ? OpCode::add : OpCode::maximum, t, pick(t));
        const NestValue v = b_.variable(f32, pick(f32));
        const NestValue k = b_.loop(below(2) ? LoopKind::serial : LoopKind::unrolled, b_.fixed_int(0), b_.fixed_int(3), below(2) == 0);
        known_.push_back({k});
        block(4, depth + 1);
        b_.accumulate(r, pick(t));
        b_.set(v, b_.apply(OpCode::add, f32, b_.get(v), pick(f32)));
        known_.pop_back();
        b_.end();
        learn(b_.get(r));
        learn(b_.get(v));
    }

    void block(unsigned length, unsigned depth) {
        for (unsigned n = 0; n < length; ++n) {
            const DType t = any();
            switch (below(12)) {
            case 0: learn(b_.load(t, input(t), index())); break;
            case 1: learn(b_.apply(OpCode::convert, t, pick(any()))); break;
            case 2: {
                const DType of = any();
                learn(b_.compare(static_cast<ir::Direction>(below(6)), pick(of), pick(of)));
                break;
            }
            case 3: learn(b_.apply(OpCode::select, t, pick(boolean), pick(t), pick(t))); break;
            case 4:
                if (depth < 2) branch(depth);
                break;
            case 5:
                if (depth < 2) inner_loop(depth);
                break;
            default: operation();
            }
        }
    }

    std::mt19937 random_;
    LoopKind kind_;
    NestBuilder b_;
    NestValue counter_ = 0;
    std::vector<std::vector<NestValue>> known_;
};

std::vector<std::vector<unsigned char>> run(const test::Kernel& kernel, unsigned seed, std::int64_t size) {
    std::mt19937 random(seed);
    std::vector<std::vector<unsigned char>> arrays;
    for (int side = 0; side < 2; ++side) {
        for (DType t : dtypes) {
            std::vector<unsigned char> bytes(static_cast<std::size_t>(extent) * t.size(), 0);
            for (std::size_t k = 0; k < static_cast<std::size_t>(extent) && side == 0; ++k) {
                const auto x = static_cast<std::int64_t>(random() % 41) - 20;
                const double d = static_cast<double>(x) / 4;
                const auto f = static_cast<float>(d);
                if (t == f64)
                    std::memcpy(&bytes[k * 8], &d, 8);
                else if (t == f32)
                    std::memcpy(&bytes[k * 4], &f, 4);
                else if (t.is_bool())
                    bytes[k] = x & 1;
                else
                    std::memcpy(&bytes[k * t.size()], &x, t.size());
            }
            arrays.push_back(std::move(bytes));
        }
    }
    std::vector<void*> buffers;
    for (auto& a : arrays) buffers.push_back(a.data());
    kernel(buffers, {5, 11}, size);
    return arrays;
}

/// NaNs may differ in their bits.
bool same(DType t, const unsigned char* a, const unsigned char* b) {
    if (std::memcmp(a, b, t.size()) == 0) return true;
    const auto is_nan = [t](const unsigned char* p) {
        double d = 0;
        float f = 0;
        std::memcpy(&d, p, t == f64 ? 8 : 0);
        std::memcpy(&f, p, t == f32 ? 4 : 0);
        return d != d || f != f;
    };
    return t.is_floating() && is_nan(a) && is_nan(b);
}

void check(unsigned seed) {
    const plan::Nest vector = RandomBody(seed, LoopKind::vector).make(), serial = RandomBody(seed, LoopKind::serial).make();
    for (const auto& level : test::levels()) {
        const test::Kernel fast(vector, level), slow(serial, level);
        for (std::int64_t size : {extent, std::int64_t{13}}) {
            const auto got = run(fast, seed, size), want = run(slow, seed, size);
            for (std::size_t k = 0; k < dtypes.size(); ++k) {
                for (std::size_t at = 0; at < static_cast<std::size_t>(extent); ++at) {
                    const std::size_t place = at * dtypes[k].size();
                    ASSERT_TRUE(same(dtypes[k], &got[11 + k][place], &want[11 + k][place]))
                        << "seed " << seed << " " << level.cpu << " size " << size << " " << dtypes[k].name() << " at " << at << "\n"
                        << vector.text();
                }
            }
        }
    }
}

TEST(EmitRandom, VectorsAgreeWithScalars) {
    const char* more = std::getenv("STITHY_RANDOM_NESTS"); // for long runs by hand
    const unsigned count = more ? static_cast<unsigned>(std::atoi(more)) : 6;
    for (unsigned seed = 1; seed <= count && !HasFatalFailure(); ++seed) check(seed);
}

} // namespace
