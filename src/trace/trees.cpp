// What is done to trees of arrays, once for all their types.
#include "array/node.hpp"
#include "base/error.hpp"
#include "stithy/tree.hpp"

namespace stithy::detail {

namespace {
/// A visitor of the arrays alone.
template <class F>
class ArrayVisitor final : public TreeVisitor {
public:
    explicit ArrayVisitor(F f) : f_(std::move(f)) {}
    void array(Array& x) override { f_(x); }
    void value(const void*, std::size_t) override {}
    void shape(const void*, std::size_t) override {}

private:
    F f_;
};

template <class F>
void for_each_array(TreeRef tree, F f) {
    ArrayVisitor<F> visitor(std::move(f));
    tree.visit(tree.tree, visitor);
}

/// Writes down what is not in the arrays; static leaves only when asked to.
class StructureVisitor final : public TreeVisitor {
public:
    explicit StructureVisitor(bool with_values) : with_values_(with_values) {}
    void array(Array&) override { ++arrays_; }
    void value(const void* data, std::size_t size) override {
        if (with_values_) shape(data, size);
    }
    void shape(const void* data, std::size_t size) override { text_.append(static_cast<const char*>(data), size); }
    [[nodiscard]] std::size_t arrays() const { return arrays_; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    bool with_values_;
    std::size_t arrays_ = 0;
    std::string text_;
};
} // namespace

std::string structure_of(TreeRef tree) {
    StructureVisitor visitor(true);
    tree.visit(tree.tree, visitor);
    std::string text = visitor.text();
    const std::size_t arrays = visitor.arrays();
    return text.append(reinterpret_cast<const char*>(&arrays), sizeof arrays);
}

void add_arrays(TreeRef tree, std::vector<Array>& to) {
    for_each_array(tree, [&](const Array& x) { to.push_back(x); });
}

std::vector<Array> arrays_of(TreeRef tree) {
    std::vector<Array> arrays;
    add_arrays(tree, arrays);
    return arrays;
}

void put_arrays(TreeRef tree, const std::vector<Array>& arrays, std::size_t& next) {
    for_each_array(tree, [&](Array& x) {
        internal_check(next < arrays.size(), "fewer arrays than the tree has");
        x = arrays[next++];
    });
}

void clear_arrays(TreeRef tree) {
    for_each_array(tree, [](Array& x) { x = Array(); });
}

void check_one_structure(const char* name, std::initializer_list<TreeRef> trees, const std::source_location& location) {
    StructureVisitor first(false);
    trees.begin()->visit(trees.begin()->tree, first);
    for (std::size_t i = 1; i < trees.size(); ++i) {
        const TreeRef& tree = trees.begin()[i];
        StructureVisitor other(false);
        tree.visit(tree.tree, other);
        if (other.arrays() != first.arrays())
            fail(name,
                 "tree 0 holds " + std::to_string(first.arrays()) + " arrays and tree " + std::to_string(i) + " holds " +
                     std::to_string(other.arrays()) + ", expected one structure",
                 location);
        if (tree.visit == trees.begin()->visit && other.text() != first.text())
            fail(name, "trees 0 and " + std::to_string(i) + " differ in the sizes or keys of their containers, expected one structure",
                 location);
    }
}

} // namespace stithy::detail
