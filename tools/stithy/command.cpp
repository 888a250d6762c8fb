#include "backend.hpp"
#include "check.hpp"
#include "doctor.hpp"
#include "run.hpp"
#include "show.hpp"

#include "base/error.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace stithy::tool {

namespace {
struct Commands {
    RunOptions run;
    std::vector<std::int64_t> grad;
    CheckOptions check;
    ShowOptions show;
};

void add_run(CLI::App& app, Commands& c) {
    CLI::App* run = app.add_subcommand("run", "Run a StableHLO program on .npy files");
    run->add_option("FILE", c.run.program, "StableHLO text with a function @main")->required();
    run->add_option("--arg", c.run.arguments,
                    "A .npy file for each argument of @main, in order; one file an option: --arg x.npy --arg w.npy")
        ->allow_extra_args(false)
        ->type_name("FILE.npy");
    run->add_option("--out", c.run.out, "Write the results to DIR/out0.npy, ... (gradients: DIR/g0.npy, ...); without it they are printed")
        ->type_name("DIR");
    run->add_option("--grad", c.grad, "Instead of the results: the gradient of the sum of all float results by these arguments (0,2)")
        ->delimiter(',')
        ->type_name("I,J,...");
    run->footer("Example: stithy run model.mlir --arg x.npy --arg w.npy --out results");
}

void add_check(CLI::App& app, Commands& c) {
    CLI::App* check = app.add_subcommand("check", "Run programs that check themselves (check.expect_eq, expect_close, expect_almost_eq)");
    check->add_option("PATH", c.check.paths, "Files, or folders that are searched for *.mlir")->required()->check(CLI::ExistingPath);
    check->add_flag("--list", c.check.list_unsupported, "Name each program that is not supported, too");
    check->footer("Prints a line for each failure, then counts: passed, failed, not supported. The exit status is 0 when nothing failed "
                  "and something passed.");
}

void add_show(CLI::App& app, Commands& c) {
    CLI::App* show = app.add_subcommand("show", "Print a program on its way to machine code");
    show->add_option("FILE", c.show.program, "StableHLO text with a function @main")->required();
    show->add_option("--stage", c.show.stage, "What to print (default: optimized): " + stage_names())->type_name("NAME");
    show->add_option("--grad", c.grad, "The gradient of the sum of all float results by these arguments (0,2), instead of the program")
        ->delimiter(',')
        ->type_name("I,J,...");
}

/// A message when the first word that is no option is no command either; else empty.
std::string unknown_command(const CLI::App& app, int count, const char* const* words) {
    if (count < 2 || words[1][0] == '-') return "";
    std::string names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (command->get_name() == words[1]) return "";
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    return "unknown command '" + std::string(words[1]) + "'; there are: " + names;
}

/// What is wrong with the command line, and where to look.
std::string explain(const CLI::App& app, const CLI::ParseError& e) {
    const auto chosen = app.get_subcommands();
    std::string text = e.what(), name = chosen.empty() ? "" : chosen.front()->get_name();
    if (name == "run" && dynamic_cast<const CLI::ExtrasError*>(&e)) text += "; each input file takes its own --arg";
    return text + " (see stithy " + (name.empty() ? "" : name + " ") + "--help)";
}

/// The chosen command.
int run_chosen(const CLI::App& app, Commands& c, Backend& backend) {
    const CLI::App* chosen = app.get_subcommands().front();
    const std::string name = chosen->get_name();
    if (name == "run") {
        if (chosen->count("--grad") != 0) c.run.grad = c.grad;
        return run_program(c.run, backend);
    }
    if (name == "check") return check_programs(c.check, backend);
    if (name == "show") {
        if (chosen->count("--grad") != 0) c.show.grad = c.grad;
        return show_program(c.show);
    }
    return doctor();
}
} // namespace

int run_command(int count, const char* const* words, Backend& backend) {
    CLI::App app("stithy: array programs, compiled and differentiated", "stithy");
    app.require_subcommand(1);
    Commands c;
    add_run(app, c);
    add_check(app, c);
    add_show(app, c);
    app.add_subcommand("doctor", "Say what this machine offers: processor, threads, compiler, libraries, caches");
    app.set_version_flag("--version", "stithy " STITHY_VERSION, "Print the version");
    if (const std::string text = unknown_command(app, count, words); !text.empty()) {
        std::cerr << "error: " << text << " (see stithy --help)\n";
        return 1;
    }
    try {
        app.parse(count, words);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help, --version
        std::cerr << "error: " << explain(app, e) << '\n';
        return 1;
    }
    try {
        return run_chosen(app, c, backend);
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
}

} // namespace stithy::tool
