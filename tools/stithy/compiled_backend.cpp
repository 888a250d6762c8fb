#include "compiled_backend.hpp"

namespace stithy::tool {

namespace {
/// Where the text makes the largest result: what is cited when memory is short.
Location line_of(const ir::Function& f) {
    Location line;
    std::int64_t most = -1;
    for (const ir::Op& op : f.ops())
        for (ir::ValueId v : f.results())
            if (v >= op.first_result && v < op.first_result + op.result_count && f.type(v).bytes() > most) {
                most = f.type(v).bytes();
                line = op.location;
            }
    return line;
}
} // namespace

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
    last_->call(std::span<const Ref<Buffer>>(inputs), cpu::Reusable(std::uint64_t{0}), outputs, line_of(*function));
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
