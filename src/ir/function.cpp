#include "ir/function.hpp"

#include <algorithm>

namespace stithy::ir {

std::vector<Type> Function::parameter_types() const {
    return {types_.begin(), types_.begin() + static_cast<std::ptrdiff_t>(parameter_count_)};
}

std::vector<Type> Function::result_types() const {
    std::vector<Type> types;
    types.reserve(results_.size());
    for (ValueId r : results_) types.push_back(types_[r]);
    return types;
}

std::span<const std::int32_t> Function::defining_op() const {
    if (has_defining_.load(std::memory_order_acquire)) return defining_;
    const std::lock_guard lock(mutex_);
    if (has_defining_.load(std::memory_order_relaxed)) return defining_;
    defining_.assign(types_.size(), -1);
    for (std::size_t i = 0; i < ops_.size(); ++i)
        for (std::uint32_t r = 0; r < ops_[i].result_count; ++r) defining_[ops_[i].first_result + r] = static_cast<std::int32_t>(i);
    has_defining_.store(true, std::memory_order_release);
    return defining_;
}

Builder::Builder(std::string name) : function_(std::allocate_shared<Function>(runtime::PoolAllocator<Function>())) {
    function_->name_ = std::move(name);
}

void Builder::reserve(std::size_t values, std::size_t operations) {
    function_->types_.reserve(values);
    function_->ops_.reserve(operations);
}

ValueId Builder::parameter(Type type, bool linear) {
    internal_check(function_->ops_.empty(), "parameter after an operation");
    if (linear || !function_->linear_.empty()) {
        function_->linear_.resize(function_->parameter_count_);
        function_->linear_.push_back(linear);
    }
    if (function_->types_.capacity() == 0) function_->types_.reserve(16);
    function_->types_.push_back(std::move(type));
    return static_cast<ValueId>(function_->parameter_count_++);
}

ValueId Builder::append(Op&& op, std::span<const Type> result_types) {
    if (function_->ops_.capacity() == 0) reserve(std::max<std::size_t>(16, 2 * function_->types_.size()), 8);
    for (ValueId v : op.operands) internal_check(v < function_->types_.size(), "operand that does not exist");
    op.first_result = static_cast<ValueId>(function_->types_.size());
    op.result_count = static_cast<std::uint32_t>(result_types.size());
    const ValueId first = op.first_result;
    for (const Type& t : result_types) function_->types_.push_back(t);
    function_->ops_.push_back(std::move(op));
    return first;
}

FunctionPtr Builder::finish(std::vector<ValueId> results) {
    for (ValueId v : results) internal_check(v < function_->types_.size(), "result that does not exist");
    function_->results_ = std::move(results);
    return std::move(function_);
}

FunctionPtr Builder::assemble(std::string name, std::size_t parameters, TypeList types, OpList ops, std::vector<ValueId> results) {
    Builder builder(std::move(name));
    builder.function_->parameter_count_ = parameters;
    builder.function_->types_ = std::move(types);
    builder.function_->ops_ = std::move(ops);
    return builder.finish(std::move(results));
}

} // namespace stithy::ir
