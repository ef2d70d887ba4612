// Measures the error of every row of functions.def: the library's functions, compiled and run on the emulator (or a GPU),
// against the host's long double functions, which have 11 bits more than f64. Fails where a result differs from the
// correctly rounded one by more ulp than the CUDA Programming Guide allows its own, where the error is larger than
// functions.def says, where a special value, a sign of zero or a NaN is wrong, and where -O0 or --fmad off gives other bits.
//
//   math_accuracy [--dense STRIDE] [--count N] [--gpu] [--fast-math] [--stdlib DIR] [NAME..]
//
// --dense: f32 functions of one argument at every STRIDE-th of all 2^32 numbers. --count: random arguments (200000).
// --gpu: on CUDA device 0 as well; 77 when there is none. --fast-math: prints errors, checks nothing.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "driver/device.hpp"
#include "driver/pipeline.hpp"

namespace ockc {
namespace {

using Unary = long double (*)(long double);
using Binary = long double (*)(long double, long double);

long double ln_gamma(long double x) {
    return std::lgamma(x > -11.0001L && x < -2.2637L ? -x : x);
}

long double exp10(long double x) {
    return std::pow(10.0L, x);
}
long double rsqrt(long double x) {
    return 1 / std::sqrt(x);
}

struct Function {
    const char* name;
    const char* call;
    Unary unary;
    Binary binary;
    double guide[2];   // f32, f64
    double ours[2];
};

const Function kFunctions[] = {
#define MATH_FUNCTION(name, call, reference, g32, g64, o32, o64) \
    {#name, call, [](long double x) -> long double { return reference(x); }, nullptr, {g32, g64}, {o32, o64}},
#define MATH_FUNCTION2(name, call, reference, g32, g64, o32, o64)                                                \
    {#name, call, nullptr, [](long double x, long double y) -> long double { return reference(x, y); }, {g32, g64}, \
     {o32, o64}},
#include "functions.def"
};

struct Settings {
    std::uint64_t dense = 0, count = 200'000;
    bool gpu = false, fast_math = false;
    std::string stdlib;
    std::vector<std::string> names;
};

template <class T>
struct Format;
template <>
struct Format<float> {
    using Bits = std::uint32_t;
    static constexpr const char* kName = "f32";
    static constexpr int kIndex = 0, kDigits = 24, kLowest = -149;
};
template <>
struct Format<double> {
    using Bits = std::uint64_t;
    static constexpr const char* kName = "f64";
    static constexpr int kIndex = 1, kDigits = 53, kLowest = -1074;
};

// A number's place in the order of all numbers of its type; neighbours differ by 1.
template <class T>
std::int64_t place(T value) {
    const auto bits = std::bit_cast<typename Format<T>::Bits>(value);
    const auto size = static_cast<std::int64_t>(bits & ~(typename Format<T>::Bits{1} << (sizeof(T) * 8 - 1)));
    return std::signbit(value) ? -size : size;
}

struct Error {
    double ulps = 0;       // of the exact value; infinite for a wrong special value
    double distance = 0;   // from the correctly rounded value
};

template <class T>
Error error_of(T got, long double exact) {
    const Error wrong{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    const T rounded = static_cast<T>(exact);
    if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? Error{} : wrong;
    if (got == rounded && std::signbit(got) != std::signbit(rounded)) return wrong;
    if (std::isinf(exact) || exact == 0) return got == rounded ? Error{} : wrong;
    const bool same_side = std::signbit(got) == std::signbit(rounded);
    const double distance = same_side ? std::fabs(static_cast<double>(place(got) - place(rounded)))
                                      : static_cast<double>(std::abs(place(got))) + static_cast<double>(std::abs(place(rounded)));
    if (std::isinf(got) || std::isinf(rounded)) return {distance, distance};
    const int exponent = std::max(std::ilogb(exact) - (Format<T>::kDigits - 1), Format<T>::kLowest);
    const auto ulps = static_cast<double>(std::fabs(std::ldexp(static_cast<long double>(got) - exact, -exponent)));
    // The long double is rounded itself: half way it does not tell which neighbour is the right one.
    return {ulps, ulps <= 0.501 ? 0 : distance};
}

// ---- samples

class Random {
  public:
    std::uint64_t bits() {   // splitmix64
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    double between(double low, double high) { return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53); }

  private:
    std::uint64_t state_ = 1;
};

template <class T>
std::vector<T> specials() {
    using L = std::numeric_limits<T>;
    std::vector<T> list;
    for (const T x : {T(0), L::denorm_min(), L::min() - L::denorm_min(), L::min(), L::epsilon(), T(0.25), T(0.5), T(0.75), T(1), T(1.5), T(2),
                      T(2.5), T(3), T(4), T(5), T(10), T(100), T(1000), T(1e9), T(3e9), T(9007199254740993.0), L::max(), L::infinity(), L::quiet_NaN()}) {
        for (const T y : {x, std::nextafter(x, T(0)), std::nextafter(x, L::infinity())}) {
            list.push_back(y);
            list.push_back(-y);
        }
    }
    for (int k = 1; k < 200; ++k) list.push_back(static_cast<T>(k * 1.57079632679489661923L));   // next to the zeros of sin and cos
    for (int k = -1080; k < 1024; k += 7) list.push_back(std::ldexp(T(1), k));
    return list;
}

template <class T>
std::vector<T> samples(Random& random, std::size_t count) {
    std::vector<T> list = specials<T>();
    for (std::size_t i = 0; i < count; ++i) {
        const auto any = std::bit_cast<T>(static_cast<typename Format<T>::Bits>(random.bits()));
        list.push_back(i % 4 == 0   ? any
                       : i % 4 == 1 ? static_cast<T>(random.between(-2, 2))
                       : i % 4 == 2 ? static_cast<T>(random.between(-30, 30))
                                    : static_cast<T>(random.between(-1, 1) * std::exp2(random.between(-20, 12))));
    }
    return list;
}

// Arguments in pairs: every special with every 5th, random ones, ones of similar size, powers within the range.
template <class T>
void pairs(Random& random, std::size_t count, std::vector<T>& x, std::vector<T>& y) {
    const std::vector<T> special = specials<T>();
    for (std::size_t i = 0; i < 150; ++i) {
        for (std::size_t j = 0; j < 150; j += 1 + i % 2) x.push_back(special[i]), y.push_back(special[j]);
    }
    const std::vector<T> more = samples<T>(random, count);
    for (const T a : more) {
        const T b = static_cast<T>(random.between(0.5, 2)) * a;
        const double limit = sizeof(T) == 4 ? 150 : 1075;
        const double power = random.between(-limit, limit) / std::log2(std::fabs(static_cast<double>(a)));
        x.push_back(a), y.push_back(b);
        x.push_back(a), y.push_back(more[random.bits() % more.size()]);
        x.push_back(std::fabs(a)), y.push_back(static_cast<T>(power));
    }
}

// ---- running

std::string source_of(const char* type) {
    std::string text = "use cuda_device::{DisjointSlice, kernel, thread};\n";
    for (const Function& f : kFunctions) {
        text += fmt::format(
            "#[kernel]\npub fn {0}_{1}(a: &[{1}], b: &[{1}], mut out: DisjointSlice<{1}>) {{\n"
            "    let i = thread::index_1d().get();\n"
            "    if let Some(o) = out.get_mut(thread::index_1d()) {{\n"
            "        let (x, _y) = (a[i], b[i]);\n        *o = {2};\n    }}\n}}\n",
            f.name, type, f.binary != nullptr ? std::string(f.call).replace(std::string(f.call).find("(y)"), 3, "(_y)") : f.call);
    }
    return text;
}

struct Compiled {
    CompileResult result;
    abi::ModuleAbi abi;
};

bool compile_for(const char* type, int level, bool fmad, const Settings& settings, Compiled& out) {
    CompileOptions options;
    options.opt_level = level;
    options.fmad = fmad;
    options.fast_math = settings.fast_math;
    options.library_dir = settings.stdlib;
    options.want_header = false;
    out.result = driver::compile_with_abi({"functions.rsk", "", source_of(type)}, options, {}, out.abi);
    for (const DiagnosticText& one : out.result.diagnostics) fmt::print("{}\n", one.rendered);
    return out.result.ok;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
std::string word(std::uint64_t value) {
    return {reinterpret_cast<const char*>(&value), 8};
}

class Runner {
  public:
    Runner(const Compiled& compiled, Result<std::unique_ptr<driver::LaunchDevice>> device) : abi_(compiled.abi), device_(std::move(device.value())) {
        ok_ = device_->load(compiled.result.images[0], compiled.abi.panic_sites).ok();
    }

    template <class T>
    bool run(const std::string& kernel, const std::vector<T>& x, const std::vector<T>& y, std::vector<T>& out) {
        const std::size_t n = x.size();
        for (const abi::KernelAbi& one : abi_.kernels) {
            if (!ok_ || one.symbol != kernel) continue;
            const std::string zeros(n * sizeof(T), '\0');
            const auto a = device_->upload(bytes_of(x)), b = device_->upload(bytes_of(y)), c = device_->upload(zeros);
            if (!a.ok() || !b.ok() || !c.ok()) return false;
            const std::vector<std::string> arguments{word(a.value()), word(n), word(b.value()), word(n), word(c.value()), word(n)};
            const auto blocks = static_cast<std::uint32_t>((n + 127) / 128);
            const Result<double> time = device_->launch(one, {blocks, 1, 1}, {128, 1, 1}, 0, arguments);
            if (!time.ok()) return fmt::print("{}\n", time.error()), false;
            std::string bytes = zeros;
            if (!device_->download(c.value(), bytes).ok()) return false;
            out.resize(n);
            std::memcpy(out.data(), bytes.data(), bytes.size());
            return true;
        }
        return false;
    }

  private:
    const abi::ModuleAbi& abi_;
    std::unique_ptr<driver::LaunchDevice> device_;
    bool ok_ = false;
};

// ---- judging

template <class T>
struct Worst {
    Error ulps, distance;
    T x{}, y{}, got{};
    long double exact = 0;

    void add(const Function& f, T a, T b, T result) {
        const long double want = f.binary != nullptr ? f.binary(a, b) : f.unary(a);
        const Error e = error_of(result, want);
        if (e.distance > distance.distance) distance = e;
        if (e.ulps <= ulps.ulps) return;
        ulps = e, x = a, y = b, got = result, exact = want;
    }
    bool report(const Function& f, const Settings& settings, const char* where) const {
        constexpr int k = Format<T>::kIndex;
        const bool good = distance.distance <= f.guide[k] && (ulps.ulps <= f.ours[k] || std::strcmp(where, "gpu") == 0);
        fmt::print("{} {:<16}{} {:8.3f} ulp, {} from the rounded one (Guide {})", f.name[0] == 0 || good ? " " : "!", f.name, where, ulps.ulps,
                   distance.distance, f.guide[k]);
        fmt::print("  at {:a}", x);
        if (f.binary != nullptr) fmt::print(", {:a}", y);
        fmt::print(": {:a}, exact {:.17g}\n", got, static_cast<double>(exact));
        return good || settings.fast_math;
    }
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b, const Function& f, const char* what, const std::vector<T>& x) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::memcmp(&a[i], &b[i], sizeof(T)) == 0) continue;
        fmt::print("! {} {}: {:a} at {:a}, else {:a}\n", f.name, what, b[i], x[i], a[i]);
        return false;
    }
    return true;
}

bool wanted(const Function& f, const Settings& settings) {
    bool any = settings.names.empty();
    for (const std::string& name : settings.names) any = any || name == f.name;
    return any;
}

template <class T>
bool measure(const Settings& settings) {
    Compiled compiled, unoptimised, uncontracted;
    const char* type = Format<T>::kName;
    if (!compile_for(type, 3, true, settings, compiled)) return false;
    if (!compile_for(type, 0, true, settings, unoptimised)) return false;
    if (!compile_for(type, 3, false, settings, uncontracted)) return false;
    bool good = true;
    if (!settings.fast_math && compiled.result.images[0].ptx != uncontracted.result.images[0].ptx) {
        fmt::print("! {}: --fmad changes the code of a function\n", type);
        good = false;
    }
    Runner runner(compiled, driver::open_emulator(false)), slow(unoptimised, driver::open_emulator(false));
    std::unique_ptr<Runner> gpu;
    if (settings.gpu) gpu = std::make_unique<Runner>(compiled, driver::open_cuda(0));
    fmt::print("{}\n", type);
    for (const Function& f : kFunctions) {
        if (!wanted(f, settings)) continue;
        Random random;
        std::vector<T> x, y, out, other;
        const bool two = f.binary != nullptr;
        if (two) {
            pairs<T>(random, settings.count / 3, x, y);
        } else {
            x = y = samples<T>(random, settings.count);
        }
        if (!runner.run(fmt::format("{}_{}", f.name, type), x, y, out)) return fmt::print("! {} does not run\n", f.name), false;
        Worst<T> worst, on_gpu;
        for (std::size_t i = 0; i < x.size(); ++i) worst.add(f, x[i], y[i], out[i]);
        good = worst.report(f, settings, "") && good;
        const std::vector<T> few_x(x.begin(), x.begin() + 2000), few_y(y.begin(), y.begin() + 2000), few(out.begin(), out.begin() + 2000);
        if (!slow.run(fmt::format("{}_{}", f.name, type), few_x, few_y, other)) return false;
        good = same_bits(few, other, f, "at -O0", few_x) && good;
        if (gpu == nullptr) continue;
        if (!gpu->run(fmt::format("{}_{}", f.name, type), x, y, out)) return fmt::print("! {} does not run on the GPU\n", f.name), false;
        for (std::size_t i = 0; i < x.size(); ++i) on_gpu.add(f, x[i], y[i], out[i]);
        good = on_gpu.report(f, settings, "gpu") && good;
    }
    return good;
}

bool measure_dense(const Settings& settings) {
    Compiled compiled;
    if (!compile_for("f32", 3, true, settings, compiled)) return false;
    Runner runner(compiled, settings.gpu ? driver::open_cuda(0) : driver::open_emulator(false));
    bool good = true;
    for (const Function& f : kFunctions) {
        if (f.binary != nullptr || !wanted(f, settings)) continue;
        Worst<float> worst;
        constexpr std::uint64_t kAll = std::uint64_t{1} << 32, kBatch = 1 << 20;
        for (std::uint64_t bits = 0; bits < kAll;) {
            std::vector<float> x, out;
            for (; bits < kAll && x.size() < kBatch; bits += settings.dense) x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
            if (!runner.run(fmt::format("{}_f32", f.name), x, x, out)) return false;
            for (std::size_t i = 0; i < x.size(); ++i) worst.add(f, x[i], x[i], out[i]);
        }
        good = worst.report(f, settings, settings.gpu ? "gpu" : "") && good;
        std::fflush(stdout);
    }
    return good;
}

}  // namespace
}  // namespace ockc

int main(int argc, char** argv) {
    using namespace ockc;
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg == "--dense" && i + 1 < argc) settings.dense = std::stoull(argv[++i]);
        else if (arg == "--count" && i + 1 < argc) settings.count = std::stoull(argv[++i]);
        else if (arg == "--gpu") settings.gpu = true;
        else if (arg == "--fast-math") settings.fast_math = true;
        else if (arg == "--stdlib" && i + 1 < argc) settings.stdlib = argv[++i];
        else settings.names.push_back(arg);
    }
    if (settings.gpu && !driver::open_cuda(0).ok()) return fmt::print("SKIPPED: no GPU\n"), 77;
    if (settings.dense != 0) return measure_dense(settings) ? 0 : 1;
    const bool single = measure<float>(settings);
    return measure<double>(settings) && single ? 0 : 1;
}
