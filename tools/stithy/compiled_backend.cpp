#include "compiled_backend.hpp"

namespace stithy::tool {

std::vector<ir::Literal> CompiledBackend::run(const ir::FunctionPtr& function, std::span<const ir::Literal> arguments) {
    using runtime::Buffer;
    if (last_function_ != function) {
        last_ = cpu::Executable::make(function);
        last_function_ = function;
    }
    std::vector<Ref<Buffer>> inputs, outputs(function->results().size());
    for (const ir::Literal& a : arguments) {
        inputs.push_back(Buffer::allocate(static_cast<std::size_t>(a.type().bytes())));
        a.copy_to(static_cast<std::byte*>(inputs.back()->data()));
    }
    last_->call(std::span<const Ref<Buffer>>(inputs), cpu::Reusable(std::uint64_t{0}), outputs);
    std::vector<ir::Literal> results;
    const std::vector<ir::Type> types = function->result_types();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        outputs[i]->wait();
        const auto* data = static_cast<const std::byte*>(outputs[i]->data());
        results.push_back(ir::Literal::dense(types[i], {data, data + types[i].bytes()}));
    }
    return results;
}

} // namespace stithy::tool
