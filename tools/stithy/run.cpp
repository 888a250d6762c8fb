#include "run.hpp"

#include "array/bind.hpp"
#include "gradient.hpp"
#include "program.hpp"
#include "runtime/npy.hpp"
#include "stithy/printing.hpp"

#include <filesystem>
#include <iostream>

namespace stithy::tool {

namespace {
std::vector<ir::Literal> read_arguments(const RunOptions& options, const ir::Function& main) {
    if (options.arguments.size() != main.parameter_count())
        throw Error(options.program + ": @main takes " + std::to_string(main.parameter_count()) + " arguments, " +
                    std::to_string(options.arguments.size()) + " given (--arg FILE.npy for each)");
    std::vector<ir::Literal> arguments;
    for (std::size_t i = 0; i < options.arguments.size(); ++i) {
        runtime::NpyArray array = runtime::read_npy(options.arguments[i]);
        const ir::Type given(array.dtype, array.shape), &expected = main.type(static_cast<ir::ValueId>(i));
        if (!(given == expected))
            throw Error("argument " + std::to_string(i) + " (" + options.arguments[i] + ") is " + given.str() + ", @main expects " +
                        expected.str());
        arguments.push_back(ir::Literal::dense(given, std::move(array.bytes)));
    }
    return arguments;
}

void write(const std::string& folder, const std::string& name, const ir::Literal& value) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(value.type().bytes()));
    value.copy_to(bytes.data());
    runtime::write_npy((std::filesystem::path(folder) / (name + ".npy")).string(), value.type().dtype(), value.type().shape(), bytes);
}

/// As arrays print.
void show(const std::string& name, const ir::Literal& value) { std::cout << name << ": " << detail::concrete_constant(value); }
} // namespace

int run_program(const RunOptions& options, Backend& backend) {
    const ir::FunctionPtr main = load_program(options.program);
    refuse_custom_calls(*main, options.program);
    const std::vector<ir::Literal> arguments = read_arguments(options, *main);
    const std::vector<ir::Literal> results =
        options.grad ? gradient(main, *options.grad, arguments, backend) : backend.run(main, arguments);
    const std::string prefix = options.grad ? "g" : "out";
    if (!options.out.empty()) std::filesystem::create_directories(options.out);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const std::string name = prefix + std::to_string(i);
        if (options.out.empty())
            show(name, results[i]);
        else
            write(options.out, name, results[i]);
    }
    return 0;
}

} // namespace stithy::tool
