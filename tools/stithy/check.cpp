#include "check.hpp"

#include "comparison.hpp"
#include "program.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

namespace stithy::tool {

namespace {
namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(path))
            if (entry.is_regular_file() && entry.path().extension() == ".mlir") found.push_back(entry.path().string());
        std::sort(found.begin(), found.end());
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

struct Checked {
    ir::FunctionPtr function; ///< gives what is compared
    std::vector<Check> checks;
};

/// The program without its check calls; what they compare is returned instead.
Checked without_checks(const ir::Function& main) {
    Checked program;
    ir::Builder builder(main.name());
    std::vector<ir::ValueId> values, outputs;
    values.reserve(main.value_count());
    for (std::size_t i = 0; i < main.parameter_count(); ++i) values.push_back(builder.parameter(main.type(static_cast<ir::ValueId>(i))));
    for (const ir::Op& op : main.ops()) {
        ir::Op copy = op;
        for (ir::ValueId& v : copy.operands) v = values[v];
        if (op.code == ir::OpCode::custom_call && op.result_count == 0 && op.operands.size() == 2) {
            if (auto check = check_of(op.get<ir::CustomCallAttr>())) {
                check->actual = outputs.size();
                check->expected = outputs.size() + 1;
                outputs.insert(outputs.end(), copy.operands.begin(), copy.operands.end());
                program.checks.push_back(*check);
                continue;
            }
        }
        std::vector<ir::Type> types;
        for (std::uint32_t r = 0; r < op.result_count; ++r) types.push_back(main.type(op.result(r)));
        const ir::ValueId first = builder.append(std::move(copy), types);
        for (std::uint32_t r = 0; r < op.result_count; ++r) values.push_back(first + r);
    }
    program.function = builder.finish(std::move(outputs));
    return program;
}

/// Nothing when every check holds, else what failed.
std::optional<std::string> run_checks(const std::string& path, Backend& backend) {
    const ir::FunctionPtr main = load_program(path);
    if (main->parameter_count() != 0) return "@main takes arguments, a program to check has its inputs inside";
    const Checked program = without_checks(*main);
    refuse_custom_calls(*program.function, path);
    if (program.checks.empty()) return "the program checks nothing";
    const std::vector<ir::Literal> outputs = backend.run(program.function, {});
    for (std::size_t i = 0; i < program.checks.size(); ++i) {
        const Check& check = program.checks[i];
        if (auto text = difference(check, outputs.at(check.actual), outputs.at(check.expected)))
            return "check " + std::to_string(i) + ": " + *text;
    }
    return std::nullopt;
}
} // namespace

int check_programs(const CheckOptions& options, Backend& backend) {
    std::size_t passed = 0, failed = 0, unsupported = 0;
    std::map<std::string, std::size_t> missing;
    for (const std::string& path : files_of(options.paths)) {
        std::string failure;
        try {
            const auto difference = run_checks(path, backend);
            if (!difference) {
                ++passed;
                continue;
            }
            failure = path + ": " + *difference;
        } catch (const ir::NotSupported& e) {
            ++unsupported;
            ++missing[e.thing()];
            if (options.list_unsupported) std::cout << e.what() << '\n';
            continue;
        } catch (const std::exception& e) {
            failure = std::string(e.what()).starts_with(path) ? e.what() : path + ": " + e.what();
        }
        ++failed;
        std::cout << "FAIL " << failure << std::endl;
    }
    std::vector<std::pair<std::string, std::size_t>> groups(missing.begin(), missing.end());
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [thing, count] : groups)
        std::cout << "not supported, " << count << (count == 1 ? " program: " : " programs: ") << thing << '\n';
    std::cout << "passed " << passed << ", failed " << failed << ", not supported " << unsupported << std::endl;
    return failed == 0 && passed != 0 ? 0 : 1;
}

} // namespace stithy::tool
