#include "ops/axes.hpp"
#include "plan/lower/operations.hpp"

#include <algorithm>

namespace stithy::plan {

using ir::OpCode;
using ir::ValueId;

namespace {

/// One axis of the product's loops with its stride in each array (0: absent).
struct Loop {
    std::int64_t extent = 1, lhs = 0, rhs = 0, out = 0;
};

struct Product {
    DType dtype, from;
    ValueId lhs = 0, rhs = 0, out = 0;
    PoolVector<Loop> batch, rows, columns, inner;
    std::int64_t b = 1, m = 1, n = 1, k = 1;
};

PoolVector<std::int64_t> strides(const Shape& shape) {
    PoolVector<std::int64_t> s(shape.rank());
    std::int64_t stride = 1;
    for (std::size_t i = shape.rank(); i-- > 0; stride *= shape[i]) s[i] = stride;
    return s;
}

bool holds(const Dims& dims, std::size_t d) { return ops::contains(dims, static_cast<std::int64_t>(d)); }

/// Axes of extent 1 go; neighbours that every array passes through as one become one.
PoolVector<Loop> merged(const PoolVector<Loop>& loops) {
    PoolVector<Loop> r;
    for (const Loop& l : loops) {
        if (l.extent == 1) continue;
        if (!r.empty()) {
            Loop& last = r.back();
            if (last.lhs == l.lhs * l.extent && last.rhs == l.rhs * l.extent && last.out == l.out * l.extent) {
                last = {last.extent * l.extent, l.lhs, l.rhs, l.out};
                continue;
            }
        }
        r.push_back(l);
    }
    return r;
}

std::int64_t count(const PoolVector<Loop>& loops) {
    std::int64_t n = 1;
    for (const Loop& l : loops) n *= l.extent;
    return n;
}

Product product_of(const Scope& scope, const ir::Op& op) {
    Product p;
    p.lhs = op.operands[0];
    p.rhs = op.operands[1];
    p.out = op.result();
    p.dtype = scope.function.type(p.out).dtype();
    p.from = scope.function.type(p.lhs).dtype();
    const auto& attr = op.get<ir::DotAttr>();
    const Shape &lhs = scope.function.type(p.lhs).shape(), &rhs = scope.function.type(p.rhs).shape(),
                &out = scope.function.type(p.out).shape();
    const auto ls = strides(lhs), rs = strides(rhs), os = strides(out);
    std::size_t o = 0;
    for (std::size_t i = 0; i < attr.lhs_batch.size(); ++i, ++o) {
        const auto l = static_cast<std::size_t>(attr.lhs_batch[i]), r = static_cast<std::size_t>(attr.rhs_batch[i]);
        p.batch.push_back({lhs[l], ls[l], rs[r], os[o]});
    }
    for (std::size_t d = 0; d < lhs.rank(); ++d)
        if (!holds(attr.lhs_batch, d) && !holds(attr.lhs_contract, d)) p.rows.push_back({lhs[d], ls[d], 0, os[o++]});
    for (std::size_t d = 0; d < rhs.rank(); ++d)
        if (!holds(attr.rhs_batch, d) && !holds(attr.rhs_contract, d)) p.columns.push_back({rhs[d], 0, rs[d], os[o++]});
    for (std::size_t i = 0; i < attr.lhs_contract.size(); ++i) {
        const auto l = static_cast<std::size_t>(attr.lhs_contract[i]), r = static_cast<std::size_t>(attr.rhs_contract[i]);
        p.inner.push_back({lhs[l], ls[l], rs[r], 0});
    }
    // The order in which products are added up is ours to choose: the one in which memory is read.
    std::stable_sort(p.inner.begin(), p.inner.end(), [](const Loop& x, const Loop& y) { return x.lhs > y.lhs; });
    p.batch = merged(p.batch);
    p.rows = merged(p.rows);
    p.columns = merged(p.columns);
    p.inner = merged(p.inner);
    p.b = count(p.batch);
    p.m = count(p.rows);
    p.n = count(p.columns);
    p.k = count(p.inner);
    return p;
}

/// A matrix in memory as the library wants it: rows apart by `leading`, maybe transposed.
struct Matrix {
    NestValue pointer = no_nest_value;
    bool transposed = false;
    std::int64_t leading = 1, batch_stride = 0;
};

class Dot {
public:
    Dot(Writer& w, Scope& scope, const Product& product) : w_(w), b_(w.b), scope_(scope), p_(product) {}

    Work run() {
        Work work;
        if (p_.b * p_.m * p_.n == 0) return work;
        const double products =
            static_cast<double>(p_.b) * static_cast<double>(p_.m) * static_cast<double>(p_.n) * static_cast<double>(p_.k);
        work.estimate_us = products * static_cast<double>(p_.dtype.size()) * 5e-6 + 0.1; // 50 GF/s in f64, 100 in f32
        if (!scope_.has_units() && flat()) {
            emit_loops_over(LoopKind::unrolled);
            return work;
        }
        const bool library = p_.dtype.is_floating() && p_.from == p_.dtype && products >= 512 && p_.k > 1;
        if (!library) {
            work.estimate_us = products * 1e-3 + 0.05;
            emit_loops_over(LoopKind::serial);
            work.units = units_;
            work.grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(25.0 * static_cast<double>(units_) / work.estimate_us));
        } else if (p_.b == 1 && (p_.m == 1 || p_.n == 1)) {
            call_gemv();
        } else {
            call_gemm();
        }
        return work;
    }

private:
    [[nodiscard]] bool flat() const {
        const std::int64_t most = std::max({p_.m, p_.n, p_.k, p_.b});
        return most <= 8 && p_.b * p_.m * p_.k <= 64 && p_.b * p_.k * p_.n <= 64 && p_.b * p_.m * p_.n <= 64 &&
               p_.b * p_.m * p_.n * p_.k <= 512;
    }

    NestValue number(std::int64_t v, bool fixed) { return fixed ? b_.fixed_int(v) : w_.number(v); }

    /// base + counter * stride
    NestValue moved(NestValue base, NestValue counter, std::int64_t stride, bool fixed) {
        if (stride == 0) return base;
        return b_.add(base, stride == 1 ? counter : b_.mul(counter, number(stride, fixed)));
    }

    struct Place {
        NestValue lhs, rhs, out;
    };

    Place open(LoopKind kind, const Loop& l, Place at, bool fixed) {
        const NestValue i = b_.loop(kind, b_.fixed_int(0), number(l.extent, fixed));
        return {moved(at.lhs, i, l.lhs, fixed), moved(at.rhs, i, l.rhs, fixed), moved(at.out, i, l.out, fixed)};
    }

    NestValue read(NestValue pointer, NestValue at) {
        const NestValue v = b_.load(p_.from, pointer, at);
        return p_.from == p_.dtype ? v : b_.apply(OpCode::convert, p_.dtype, v);
    }

    /// Generated loops: columns (or, for matrix-vector products, the inner dimension) side by side.
    void emit_loops_over(LoopKind kind) {
        const bool fixed = kind == LoopKind::unrolled;
        const NestValue zero = b_.fixed_int(0);
        const NestValue lhs = scope_.pointer_or_local(w_, p_.lhs), rhs = scope_.pointer_or_local(w_, p_.rhs);
        const bool one = p_.b * p_.m * p_.n == 1;
        const NestValue out = one ? no_nest_value : scope_.pointer(w_, p_.out);
        PoolVector<Loop> outer = p_.batch;
        outer.insert(outer.end(), p_.rows.begin(), p_.rows.end());
        outer.insert(outer.end(), p_.columns.begin(), p_.columns.end());
        const bool inner_vector = !fixed && !p_.inner.empty() && (outer.empty() || p_.columns.empty()) && p_.k >= 8;
        Place at{zero, zero, zero};
        for (std::size_t i = 0; i < outer.size(); ++i) {
            const bool last = i + 1 == outer.size();
            if (i == 0 && scope_.has_units() && !(last && !inner_vector)) { // the outermost rows are shared among threads
                units_ = outer[0].extent;
                const NestValue u = b_.loop(LoopKind::units, b_.range_begin(), b_.range_end());
                at = {moved(zero, u, outer[0].lhs, false), moved(zero, u, outer[0].rhs, false), moved(zero, u, outer[0].out, false)};
                continue;
            }
            at = open(fixed ? kind : last && !inner_vector ? LoopKind::vector : LoopKind::serial, outer[i], at, fixed);
        }
        const bool boolean_product = p_.dtype.is_bool();
        const NestValue total = b_.reduction(boolean_product ? OpCode::or_ : OpCode::add, p_.dtype, b_.fixed(p_.dtype, 0));
        Place inside = at;
        for (std::size_t i = 0; i < p_.inner.size(); ++i) {
            const bool last = i + 1 == p_.inner.size();
            inside = open(fixed ? kind : last && inner_vector ? LoopKind::vector : LoopKind::serial, p_.inner[i], inside, fixed);
        }
        const NestValue x = read(lhs, inside.lhs), y = read(rhs, inside.rhs);
        b_.accumulate(total, b_.apply(boolean_product ? OpCode::and_ : OpCode::multiply, p_.dtype, x, y));
        for (std::size_t i = 0; i < p_.inner.size(); ++i) b_.end();
        const NestValue sum = b_.get(total);
        if (one)
            scope_.set_scalar(w_, p_.out, sum);
        else
            b_.store(p_.dtype, out, at.out, sum);
        for (std::size_t i = 0; i < outer.size(); ++i) b_.end();
    }

    /// The operand as a matrix of `rows` x `columns`; copied into scratch memory when its axes lie otherwise.
    Matrix matrix(NestValue pointer, const PoolVector<Loop>& rows, const PoolVector<Loop>& columns, std::int64_t Loop::* stride) {
        Matrix r;
        r.pointer = pointer;
        const std::int64_t batch = p_.batch.empty() ? 1 : p_.batch.back().extent;
        r.batch_stride = p_.batch.empty() ? 0 : p_.batch.back().*stride;
        const std::int64_t rs = rows.empty() ? 0 : rows[0].*stride, cs = columns.empty() ? 0 : columns[0].*stride;
        const std::int64_t m = count(rows), n = count(columns);
        if (rows.size() <= 1 && columns.size() <= 1) {
            if (columns.empty() || cs == 1) {
                r.leading = rows.empty() ? std::max<std::int64_t>(n, 1) : rs;
                if (r.leading >= n) return r;
            }
            if (rows.empty() || rs == 1) {
                r.transposed = true;
                r.leading = columns.empty() ? std::max<std::int64_t>(m, 1) : cs;
                if (r.leading >= m) return r;
            }
        }
        r.transposed = false;
        r.leading = n;
        r.batch_stride = m * n;
        const NestValue to = w_.scratch(batch * m * n * static_cast<std::int64_t>(p_.dtype.size()));
        PoolVector<Loop> loops;
        if (!p_.batch.empty()) loops.push_back(p_.batch.back());
        loops.insert(loops.end(), rows.begin(), rows.end());
        loops.insert(loops.end(), columns.begin(), columns.end());
        std::int64_t place = 1;
        PoolVector<std::int64_t> places(loops.size());
        for (std::size_t i = loops.size(); i-- > 0; place *= loops[i].extent) places[i] = place;
        NestValue from_at = b_.fixed_int(0), to_at = b_.fixed_int(0);
        for (std::size_t i = 0; i < loops.size(); ++i) {
            const NestValue c =
                b_.loop(i + 1 == loops.size() ? LoopKind::vector : LoopKind::serial, b_.fixed_int(0), w_.number(loops[i].extent));
            from_at = moved(from_at, c, loops[i].*stride, false);
            to_at = moved(to_at, c, places[i], false);
        }
        b_.store(p_.dtype, to, to_at, b_.load(p_.dtype, r.pointer, from_at));
        for (std::size_t i = 0; i < loops.size(); ++i) b_.end();
        r.pointer = to;
        return r;
    }

    /// A pointer moved by so many elements.
    NestValue moved_pointer(NestValue pointer, NestValue elements) {
        return b_.offset(pointer, b_.mul(elements, b_.fixed_int(static_cast<std::int64_t>(p_.dtype.size()))));
    }

    void call_gemm() {
        NestValue a = scope_.pointer_or_local(w_, p_.lhs), b = scope_.pointer_or_local(w_, p_.rhs), out = scope_.pointer(w_, p_.out);
        // The library takes one batch axis; others are loops around it.
        const NestValue zero = b_.fixed_int(0);
        Place at{zero, zero, zero};
        const std::size_t loops = p_.batch.empty() ? 0 : p_.batch.size() - 1;
        for (std::size_t i = 0; i < loops; ++i) at = open(LoopKind::serial, p_.batch[i], at, false);
        if (loops > 0) {
            a = moved_pointer(a, at.lhs);
            b = moved_pointer(b, at.rhs);
            out = moved_pointer(out, at.out);
        }
        const Matrix lhs = matrix(a, p_.rows, p_.inner, &Loop::lhs), rhs = matrix(b, p_.inner, p_.columns, &Loop::rhs);
        const auto flag = [&](bool f) { return b_.fixed_int(f ? 1 : 0); };
        const NestValue m = w_.number(p_.m), n = w_.number(p_.n), k = w_.number(p_.k);
        const NestValue lda = w_.number(lhs.leading), ldb = w_.number(rhs.leading),
                        batch = w_.number(p_.batch.empty() ? 1 : p_.batch.back().extent);
        const NestValue sa = w_.number(lhs.batch_stride), sb = w_.number(rhs.batch_stride),
                        sc = w_.number(p_.batch.empty() ? 0 : p_.batch.back().out);
        b_.call(p_.dtype == f32 ? "stithy_gemm_f32" : "stithy_gemm_f64",
                {flag(lhs.transposed), flag(rhs.transposed), m, n, k, lhs.pointer, lda, rhs.pointer, ldb, b_.fixed(p_.dtype, 0), out, n,
                 batch, sa, sb, sc});
        for (std::size_t i = 0; i < loops; ++i) b_.end();
    }

    void call_gemv() {
        const bool vector_left = p_.m == 1;
        const NestValue a = scope_.pointer_or_local(w_, p_.lhs), b = scope_.pointer_or_local(w_, p_.rhs);
        const Matrix matrix_side = vector_left ? matrix(b, p_.columns, p_.inner, &Loop::rhs) : matrix(a, p_.rows, p_.inner, &Loop::lhs);
        const PoolVector<Loop> none;
        const Matrix vector_side = vector_left ? matrix(a, none, p_.inner, &Loop::lhs) : matrix(b, none, p_.inner, &Loop::rhs);
        const std::int64_t rows = vector_left ? p_.n : p_.m;
        const NestValue m = w_.number(matrix_side.transposed ? p_.k : rows), n = w_.number(matrix_side.transposed ? rows : p_.k);
        const bool one = rows == 1;
        const NestValue out = one ? b_.local(p_.dtype, 1) : scope_.pointer(w_, p_.out);
        b_.call(p_.dtype == f32 ? "stithy_gemv_f32" : "stithy_gemv_f64",
                {b_.fixed_int(matrix_side.transposed ? 1 : 0), m, n, matrix_side.pointer, w_.number(matrix_side.leading),
                 vector_side.pointer, b_.fixed(p_.dtype, 0), out});
        if (one) scope_.set_scalar(w_, p_.out, b_.load(p_.dtype, out, b_.fixed_int(0)));
    }

    Writer& w_;
    NestBuilder& b_;
    Scope& scope_;
    const Product& p_;
    std::int64_t units_ = 1;
};

} // namespace

Work lower_dot(Writer& w, Scope& scope, const ir::Op& op) {
    const Product product = product_of(scope, op);
    return Dot(w, scope, product).run();
}

} // namespace stithy::plan
