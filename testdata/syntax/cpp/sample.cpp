// A cache of shapes.
#include <algorithm>
#include <memory>
#include <vector>
#include "shape.hpp"

#define LOG(x) std::cerr << (x) << '\n'

using namespace std::literals;
using std::string;
using Names = std::vector<string>;

namespace shapes {

enum class Color : unsigned char { Red, Green = 4, Blue };

constexpr int kLimit = 1'000;
inline thread_local int depth = 0;

template <typename T>
concept Drawable = requires(T t) { t.draw(); };

class Shape {
public:
    explicit Shape(string name, int sides = 0) : name_(std::move(name)), sides_{sides} {}
    virtual ~Shape() = default;
    Shape(const Shape&) = delete;
    Shape& operator=(const Shape& other) {
        if (this != &other) {
            name_ = other.name_;
        }
        return *this;
    }

    virtual double area() const = 0;
    [[nodiscard]] const string& name() const noexcept { return name_; }
    bool operator<(const Shape& other) const { return area() < other.area(); }
    static int count();

protected:
    string name_;
    mutable int hits = 0;

private:
    friend class Cache;
    int sides_;
};

struct Circle final : public Shape {
    double radius = 1.0;
    Circle(double r) : Shape("circle"), radius(r) {}
    double area() const override { return 3.14 * radius * radius; }
};

template <typename T, int N = 4>
class Cache {
    std::unique_ptr<T> items[N];
    std::size_t used{0};

public:
    template <typename... Args>
    T& make(Args&&... args) {
        auto item = std::make_unique<T>(std::forward<Args>(args)...);
        items[used++] = std::move(item);
        return *items[used - 1];
    }
};

template <>
class Cache<int, 0> {};

int Shape::count() {
    static int total = 0;
    return ++total;
}

template <typename T>
auto sum(const std::vector<T>& values) -> T {
    T total{};
    for (const auto& value : values) {
        total += value;
    }
    for (int i = 0; i < kLimit; ++i) {
        if (i % 2 == 0) continue;
        else break;
    }
    return total;
}

}  // namespace shapes

extern "C" {
int shapes_version(void);
}

int main(int argc, char* argv[]) {
    shapes::Cache<shapes::Circle> cache;
    std::vector<int> numbers{3, 1, 2};
    int base = static_cast<int>(argc);
    auto add = [&numbers, base](int n) mutable -> int { return n + base; };
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
    try {
        auto& circle = cache.make(2.5);
        if (auto* found = dynamic_cast<shapes::Shape*>(&circle); found != nullptr) {
            std::cout << found->name() << ": " << found->area() << std::endl;
        }
        throw std::runtime_error("done");
    } catch (const std::exception& e) {
        LOG(e.what());
    } catch (...) {
        throw;
    }
    switch (base) {
    case 1:
        return add(1);
    default:
        break;
    }
    Options options = {.depth = 2, .name = "x"};
    int* raw = new int[4]{1, 2, 3, 4};
    delete[] raw;
    const char* text = R"(raw \n text)";
    return text != nullptr ? argv[0][0] : sizeof(base);
}
