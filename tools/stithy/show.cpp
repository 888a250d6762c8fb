#include "show.hpp"

#include "cpu/kernel_cache.hpp"
#include "gradient.hpp"
#include "pass/optimize.hpp"
#include "plan/plan.hpp"
#include "program.hpp"

#include <algorithm>
#include <iostream>

namespace stithy::tool {

namespace {
/// The function after the last pass of that name.
std::string after_pass(const ir::FunctionPtr& function, std::string_view name) {
    std::string text;
    pass::PassOptions options;
    options.after = [&](std::string_view pass, const ir::Function& made) {
        if (pass == name) text = ir::print(made);
    };
    (void)pass::optimize(function, options);
    return text;
}

bool is_pass(std::string_view name) {
    const auto all = pass::passes();
    return std::any_of(all.begin(), all.end(), [&](const pass::Pass& p) { return p.name == name; });
}

/// LLVM's text or assembly of every kernel.
void show_code(const plan::Plan& plan, bool assembly) {
    for (std::size_t i = 0; i < plan.nests.size(); ++i) {
        const cpu::CompileResult code = cpu::compile_text(plan.nests[i]);
        std::cout << "; kernel " << i << '\n' << (assembly ? code.assembly : code.ir) << '\n';
    }
}
} // namespace

std::string stage_names() {
    std::string names = "input, ";
    std::vector<std::string_view> seen;
    for (const pass::Pass& p : pass::passes()) {
        if (std::find(seen.begin(), seen.end(), p.name) != seen.end()) continue;
        seen.push_back(p.name);
        names += std::string(p.name) + ", ";
    }
    return names + "optimized, plan, llvm, asm";
}

int show_program(const ShowOptions& options) {
    ir::FunctionPtr function = load_program(options.program);
    if (options.grad) function = gradient_function(function, *options.grad);
    const std::string& stage = options.stage;
    if (stage == "input")
        std::cout << ir::print(*function);
    else if (stage.empty() || stage == "optimized")
        std::cout << ir::print(*pass::optimize(function));
    else if (stage == "plan")
        std::cout << plan::print(plan::make_plan(function));
    else if (stage == "llvm" || stage == "asm")
        show_code(plan::make_plan(function), stage == "asm");
    else if (is_pass(stage))
        std::cout << after_pass(function, stage);
    else
        throw Error("--stage " + stage + ": no such stage; there are: " + stage_names());
    std::cout << std::flush;
    return 0;
}

} // namespace stithy::tool
