#include "runtime/intrusive.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

using stithy::make_ref;
using stithy::Ref;
using stithy::RefCounted;

struct Base : RefCounted {
    explicit Base(int* deaths) : deaths_(deaths) {}
    virtual ~Base() { ++*deaths_; }
    int* deaths_;
};
struct Derived final : Base {
    using Base::Base;
};

TEST(Intrusive, CountsHandles) {
    int deaths = 0;
    {
        Ref<Base> a = make_ref<Base>(&deaths);
        EXPECT_TRUE(a.unique());
        Ref<Base> b = a;
        EXPECT_FALSE(a.unique());
        EXPECT_EQ(a, b);
        Ref<Base> c = std::move(b);
        EXPECT_FALSE(b); // NOLINT: the moved-from state is what is tested
        EXPECT_EQ(a->use_count(), 2u);
        c.reset();
        EXPECT_TRUE(a.unique());
        Ref<Base>& same = a;
        a = same;
        EXPECT_TRUE(a.unique());
        EXPECT_EQ(deaths, 0);
    }
    EXPECT_EQ(deaths, 1);
    EXPECT_FALSE(Ref<Base>().unique());
}

TEST(Intrusive, ConvertsToBaseAndConst) {
    int deaths = 0;
    {
        Ref<Derived> derived = make_ref<Derived>(&deaths);
        Ref<Base> base = derived;
        Ref<const Base> constant = std::move(base);
        EXPECT_EQ(derived->use_count(), 2u);
        EXPECT_EQ(constant.get(), derived.get());
    }
    EXPECT_EQ(deaths, 1);
}

TEST(Intrusive, AdoptAndDetachKeepTheCount) {
    int deaths = 0;
    Base* raw = make_ref<Base>(&deaths).detach();
    EXPECT_EQ(deaths, 0);
    EXPECT_EQ(raw->use_count(), 1u);
    Ref<Base>::adopt(raw).reset();
    EXPECT_EQ(deaths, 1);
}

TEST(Intrusive, SharedByThreads) {
    int deaths = 0;
    Ref<Base> shared = make_ref<Base>(&deaths);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([copy = shared] {
            for (int i = 0; i < 10000; ++i) {
                Ref<Base> mine = copy;
                Ref<Base> other = std::move(mine);
            }
        });
    shared.reset();
    for (auto& thread : threads) thread.join();
    threads.clear();
    EXPECT_EQ(deaths, 1);
}

TEST(Intrusive, Hashes) {
    int deaths = 0;
    std::unordered_set<Ref<Base>> set;
    Ref<Base> a = make_ref<Base>(&deaths);
    set.insert(a);
    set.insert(a);
    EXPECT_EQ(set.size(), 1u);
}

} // namespace
