#include "backend.hpp"
#include "check.hpp"
#include "run.hpp"

#include "base/error.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace stithy::tool {

namespace {
struct Commands {
    RunOptions run;
    std::vector<std::size_t> grad;
    CheckOptions check;
};

CLI::App* add_run(CLI::App& app, Commands& c) {
    CLI::App* run = app.add_subcommand("run", "Run a StableHLO program on .npy files");
    run->add_option("FILE", c.run.program, "StableHLO text with a function @main")->required();
    run->add_option("--arg", c.run.arguments, "A .npy file for each argument of @main, in order (repeat the option)")->allow_extra_args(false)->type_name("FILE.npy");
    run->add_option("--out", c.run.out, "Write the results to DIR/out0.npy, ... (gradients: DIR/g0.npy, ...); without it they are printed")->type_name("DIR");
    run->add_option("--grad", c.grad, "Instead of the results: the gradient of the sum of all float results by these arguments (0,2)")->delimiter(',')->type_name("I,J,...");
    run->footer("Example: stithy run model.mlir --arg x.npy --arg w.npy --out results");
    return run;
}

CLI::App* add_check(CLI::App& app, Commands& c) {
    CLI::App* check = app.add_subcommand("check", "Run programs that check themselves (check.expect_eq, expect_close, expect_almost_eq)");
    check->add_option("PATH", c.check.paths, "Files, or folders that are searched for *.mlir")->required()->check(CLI::ExistingPath);
    check->add_flag("--list", c.check.list_unsupported, "Name each program that is not supported, too");
    check->footer("Prints a line for each failure, then counts: passed, failed, not supported. The exit status is 0 when nothing failed and something passed.");
    return check;
}
} // namespace

int run_command(int count, const char* const* words, Backend& backend) {
    CLI::App app("stithy: array programs, compiled and differentiated", "stithy");
    app.require_subcommand(1);
    Commands c;
    const CLI::App* run = add_run(app, c);
    const CLI::App* check = add_check(app, c);
    try {
        app.parse(count, words);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    try {
        if (*run) {
            if (run->count("--grad") != 0) c.run.grad = c.grad;
            return run_program(c.run, backend);
        }
        if (*check) return check_programs(c.check, backend);
    } catch (const std::bad_alloc&) {
        std::cerr << "error: out of memory\n";
        return 1;
    } catch (const InternalError& e) {
        std::cerr << "error: " << e.what() << " (this is a bug of stithy)\n";
        return 1;
    } catch (const std::exception& e) {
        std::cerr << "error: " << e.what() << '\n';
        return 1;
    }
    return 1;
}

} // namespace stithy::tool
