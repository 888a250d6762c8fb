#include "array/eager.hpp"

#include "array/bind.hpp"
#include "array/elementwise.hpp"
#include "ops/build.hpp"
#include "ops/value.hpp"
#include "transform/common.hpp"

#include <array>
#include <list>
#include <mutex>
#include <unordered_map>

namespace stithy::detail {

namespace {
bool same_key(const EagerProgram& program, std::uint64_t hash, std::span<const std::uint64_t> words) {
    return program.hash == hash && std::equal(words.begin(), words.end(), program.key.begin(), program.key.end());
}

/// All programs, by hash, the most recently asked for in front.
class ProgramCache {
public:
    Ref<EagerProgram> find(std::uint64_t hash, std::span<const std::uint64_t> words) {
        std::lock_guard lock(mutex_);
        const auto [first, last] = map_.equal_range(hash);
        for (auto at = first; at != last; ++at)
            if (same_key(**at->second, hash, words)) {
                order_.splice(order_.begin(), order_, at->second);
                return order_.front();
            }
        return nullptr;
    }
    void insert(const Ref<EagerProgram>& program) {
        Ref<EagerProgram> oldest; // destroyed after the lock
        std::lock_guard lock(mutex_);
        order_.push_front(program);
        map_.emplace(program->hash, order_.begin());
        if (order_.size() <= capacity) return;
        oldest = std::move(order_.back());
        const auto [first, last] = map_.equal_range(oldest->hash);
        for (auto at = first; at != last; ++at)
            if (at->second == std::prev(order_.end())) {
                map_.erase(at);
                break;
            }
        order_.pop_back();
    }

private:
    static constexpr std::size_t capacity = 1024;
    using Order = std::list<Ref<EagerProgram>>;
    std::mutex mutex_;
    Order order_;
    std::unordered_multimap<std::uint64_t, Order::iterator> map_;
};

ProgramCache& cache() {
    static auto* made = new ProgramCache; // never destroyed: arrays may outlive static objects
    return *made;
}

/// This thread's last programs, in front of the cache and without its lock.
constexpr std::size_t slots = 128;
thread_local std::array<Ref<EagerProgram>, slots> recent;

Ref<EagerProgram> find_or_make(std::uint64_t hash, const Key& key, std::uint64_t donated, const std::function<ir::FunctionPtr()>& make) {
    if (auto known = cache().find(hash, key.words())) return known;
    auto program = make_ref<EagerProgram>();
    program->key.assign(key.words().begin(), key.words().end());
    program->hash = hash;
    program->function = make();
    cpu::CompileOptions options;
    for (std::size_t i = 0; donated >> i != 0; ++i) options.donated.push_back((donated >> i & 1) != 0);
    if (donated) options.donated.resize(program->function->parameter_count());
    program->executable = cpu::Executable::make(program->function, options);
    cache().insert(program); // two threads may make the same one; either serves
    return program;
}

/// The Function of one operation on parameters of the operands' types.
ir::FunctionPtr function_of(const Operation& operation) {
    ops::LocationScope location(operation.location);
    ir::Builder builder(std::string(ir::name(operation.code)));
    ops::Values operands;
    for (const Array& x : operation.operands) operands.emplace_back(builder, builder.parameter(node(x).type()));
    ir::Op op;
    op.code = operation.code;
    op.effect = operation.effect;
    for (const ops::Value& v : operands) op.operands.push_back(v.id());
    op.attr = operation.attr;
    op.regions.assign(operation.regions.begin(), operation.regions.end());
    op.location = operation.location;
    const ops::Values results = ops::emit_op(builder, std::move(op), operation.declared);
    std::vector<ir::ValueId> ids;
    for (const ops::Value& v : results) ids.push_back(v.id());
    return builder.finish(std::move(ids));
}

void add_operation(Key& key, const Operation& operation, std::uint64_t in_place) {
    key.add(static_cast<std::uint64_t>(operation.code) | operation.operands.size() << 8 | operation.regions.size() << 24 |
            operation.declared.size() << 40 | static_cast<std::uint64_t>(operation.effect) << 56);
    key.add(in_place);
    for (const Array& x : operation.operands) key.add(node(x).dtype(), node(x).shape());
    for (const ir::Type& t : operation.declared) key.add(t.dtype(), t.shape());
    // Bodies of loops and branches are traced anew in each call, so their contents count; reducers are made once.
    const bool traced = transform::is_structured(operation.code) && operation.code != ir::OpCode::call;
    for (const ir::FunctionPtr& region : operation.regions)
        if (traced)
            key.add(*region);
        else
            key.add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(region.get())));
    if (operation.attr) key.add(*operation.attr);
}

/// Which dying operands are worth the program's writing in place.
std::uint64_t worth_in_place(const Operation& operation) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; operation.dying >> i != 0 && i < operation.operands.size(); ++i)
        if ((operation.dying >> i & 1) && node(operation.operands[i]).type().bytes() >= least_bytes_in_place) mask |= std::uint64_t{1} << i;
    return mask;
}

/// A slice without strides whose elements lie in a row: copied here if the operand is there and the piece is small. Undefined when it is
/// none.
Array small_piece(const Operation& operation) {
    const ArrayNode& n = node(operation.operands[0]);
    const auto& a = std::get<ir::SliceAttr>(*operation.attr);
    if (n.is_splat() || !n.buffer()->ready()) return {};
    Dims extents;
    std::int64_t first = 0, elements = 1;
    bool row_ended = false;
    for (std::size_t i = 0; i < a.start.size(); ++i) {
        const std::int64_t extent = a.limit[i] - a.start[i];
        if (a.stride[i] != 1 || (row_ended && extent != n.shape()[i])) return {};
        row_ended = row_ended || extent != 1; // after the first axis with several, all must be whole
        first = first * n.shape()[i] + a.start[i];
        elements *= extent;
        extents.push_back(extent);
    }
    const std::size_t size = n.dtype().size(), bytes = static_cast<std::size_t>(elements) * size;
    if (bytes > 4096) return {};
    auto copy = runtime::Buffer::allocate(bytes);
    if (bytes)
        __builtin_memcpy(copy->data(), static_cast<const std::byte*>(n.buffer()->data()) + static_cast<std::size_t>(first) * size, bytes);
    return make_concrete(n.dtype(), Shape(std::move(extents)), std::move(copy), operation.location);
}

/// A slice without strides as a dynamic slice, whose starts are no part of the key.
Array moving_slice(const Operation& operation) {
    const auto& a = std::get<ir::SliceAttr>(*operation.attr);
    std::vector<Array> operands{operation.operands[0]};
    Dims sizes;
    for (std::size_t i = 0; i < a.start.size(); ++i) {
        if (a.stride[i] != 1) return {};
        operands.push_back(make_splat(i64, Shape(), static_cast<std::uint64_t>(a.start[i]), operation.location));
        sizes.push_back(a.limit[i] - a.start[i]);
    }
    return run_now1({.code = ir::OpCode::dynamic_slice,
                     .operands = operands,
                     .attr = ir::make_attr(ir::DimsAttr{sizes}),
                     .regions = {},
                     .declared = {},
                     .location = operation.location});
}

/// Operations that need no code of their own. Undefined when it is none of them.
Array without_code(const Operation& operation) {
    const auto same_buffer = [&](const Shape& shape) {
        const ArrayNode& n = node(operation.operands[0]);
        if (n.is_splat()) return make_splat(n.dtype(), shape, n.splat_bits(), operation.location);
        return make_concrete(n.dtype(), shape, take_buffer(operation.operands[0], (operation.dying & 1) != 0), operation.location);
    };
    switch (operation.code) {
    case ir::OpCode::constant: return concrete_constant(std::get<ir::ConstantAttr>(*operation.attr).value, operation.location);
    case ir::OpCode::reshape:
        if (operation.declared[0].elements() != node(operation.operands[0]).shape().elements()) return {};
        return same_buffer(operation.declared[0].shape());
    case ir::OpCode::convert:
        if (operation.declared[0].dtype() == node(operation.operands[0]).dtype()) return same_buffer(node(operation.operands[0]).shape());
        return {};
    case ir::OpCode::broadcast_in_dim:
        if (node(operation.operands[0]).is_splat() && node(operation.operands[0]).shape().rank() == 0)
            return make_splat(node(operation.operands[0]).dtype(), operation.declared[0].shape(), node(operation.operands[0]).splat_bits(),
                              operation.location);
        return {};
    case ir::OpCode::slice:
        if (Array piece = small_piece(operation); piece.defined()) return piece;
        return moving_slice(operation);
    default: return elementwise_with_splats(operation);
    }
}

/// Runs an operation that needs code; `take` receives the results.
template <class Take>
void run(const Operation& operation, Take take) {
    const std::uint64_t in_place = operation.dying ? worth_in_place(operation) : 0;
    Key key;
    add_operation(key, operation, in_place);
    const Ref<EagerProgram> program = eager_program(key, in_place, [&] { return function_of(operation); });
    SmallVector<Ref<runtime::Buffer>, 8> inputs;
    std::uint64_t reusable = 0;
    for (std::size_t i = 0; i < operation.operands.size(); ++i) {
        const bool dying = (in_place >> i & 1) != 0;
        inputs.push_back(take_buffer(operation.operands[i], dying));
        if (dying && !node(operation.operands[i]).is_splat() && inputs[i].get() != node(operation.operands[i]).buffer().get())
            reusable |= std::uint64_t{1} << i;
    }
    SmallVector<Array, 4> results(program->executable->result_types().size());
    run_program(*program, {inputs.data(), inputs.size()}, reusable, {results.data(), results.size()}, operation.location);
    take(results);
}
} // namespace

Ref<EagerProgram> eager_program(const Key& key, std::uint64_t donated, const std::function<ir::FunctionPtr()>& make) {
    const std::uint64_t hash = key.hash();
    Ref<EagerProgram>& slot = recent[hash % slots];
    if (!slot || !same_key(*slot, hash, key.words())) [[unlikely]]
        slot = find_or_make(hash, key, donated, make);
    return slot;
}

void run_program(const EagerProgram& program, std::span<Ref<runtime::Buffer>> inputs, std::uint64_t reusable, std::span<Array> results,
                 const Location& location) {
    SmallVector<Ref<runtime::Buffer>, 4> buffers(results.size());
    program.executable->call(inputs, reusable, std::span(buffers.data(), buffers.size()), location);
    const std::vector<ir::Type>& types = program.executable->result_types();
    for (std::size_t i = 0; i < results.size(); ++i)
        results[i] = make_concrete(types[i].dtype(), types[i].shape(), std::move(buffers[i]), location);
}

Arrays run_now(const Operation& operation) {
    if (Array shared = without_code(operation); shared.defined()) return {std::move(shared)};
    Arrays arrays;
    run(operation, [&](SmallVector<Array, 4>& results) {
        for (Array& r : results) arrays.push_back(std::move(r));
    });
    return arrays;
}

Array run_now1(const Operation& operation) {
    if (Array shared = without_code(operation); shared.defined()) return shared;
    Array only;
    run(operation, [&](SmallVector<Array, 4>& results) {
        internal_check(results.size() == 1, "one result expected");
        only = std::move(results[0]);
    });
    return only;
}

} // namespace stithy::detail
