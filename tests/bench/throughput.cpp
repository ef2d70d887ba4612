// bench_throughput [LINES..]: lines a second of `ockc check` and of whole compiles at -O1 and -O3 on generated programs (10,000,
// 40,000 and 200,000 lines when none is given), and the peak memory. Blank and comment lines do not count. `--write FILE LINES`
// writes such a program instead. Linear means that the columns stay the same from row to row.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "driver/process.hpp"
#include "support/file_io.hpp"

namespace fs = std::filesystem;
using namespace ockc;

namespace {

constexpr std::string_view kHead = R"(use cuda_device::{DisjointSlice, kernel, launch_bounds, thread};

pub trait Score {
    fn score(&self, weight: i32) -> i32;
    fn twice(&self, weight: i32) -> i32 {
        self.score(weight) + self.score(weight + 1)
    }
}
)";

// About a hundred lines with two kernels, a third of them generic or iterating. `@` is the number of the part, `%` a digit.
constexpr std::string_view kPart = R"(
#[derive(Clone, Copy)]
pub struct Pair@ {
    low: i32,
    high: i32,
}

impl Score for Pair@ {
    fn score(&self, weight: i32) -> i32 {
        if self.low > self.high {
            self.low.wrapping_mul(weight)
        } else {
            self.high.wrapping_add(weight)
        }
    }
}

pub struct Steps@ {
    at: u32,
    end: u32,
}

impl Iterator for Steps@ {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.at >= self.end {
            return None;
        }
        let now = self.at;
        self.at += %;
        Some(now)
    }
}

fn larger@<T: Copy + PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

fn total@<S: Score>(score: &S, rounds: u32) -> i32 {
    let mut sum = 0;
    for i in 0..rounds {
        sum += score.twice(i as i32);
    }
    sum
}

fn clamp_all@(values: &[f32], low: f32, high: f32) -> f32 {
    let mut sum = 0.0f32;
    for value in values.iter() {
        let mut v = *value;
        if v < low {
            v = low;
        }
        if v > high {
            v = high;
        }
        sum += v * %.0;
    }
    sum
}

fn pick@(key: u32, a: i32, b: i32) -> i32 {
    match key & 3 {
        0 => a + b,
        1 => a - b,
        2 => larger@(a, b),
        _ => a ^ b,
    }
}

#[kernel]
pub fn mix@(input: &[f32], keys: &[u32], mut out: DisjointSlice<i32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    let pair = Pair@ { low: keys[i] as i32, high: % };
    let mut sum = total@(&pair, keys[i] & 7);
    for step in (Steps@ { at: 0, end: keys[i] }) {
        sum += pick@(step, sum, pair.low);
    }
    let bound = larger@(input[i], 1.5);
    let bounded = clamp_all@(input, -bound, bound);
    if let Some(slot) = out.get_mut(idx) {
        *slot = sum + bounded as i32;
    }
}

#[kernel]
#[launch_bounds(128)]
pub fn scale@(input: &[f32], factor: f32, mut out: DisjointSlice<f32>) {
    let idx = thread::index_1d();
    let i = idx.get();
    let mut power = factor;
    let mut n = %;
    while n > 0 {
        power = power * factor + 0.5;
        n -= 1;
    }
    let near = if i > 0 { input[i - 1] } else { 0.0 };
    if let Some(slot) = out.get_mut(idx) {
        *slot = larger@(input[i] * power, near);
    }
}
)";

std::size_t lines_of(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (text.substr(at, end - at).find_first_not_of(' ') != std::string_view::npos) ++count;
        at = end + 1;
    }
    return count;
}

// A program of at least so many lines; gives how many it has.
std::size_t generate(std::size_t lines, std::string& text) {
    text = kHead;
    std::size_t count = lines_of(kHead);
    for (std::size_t part = 0; count < lines; ++part, count += lines_of(kPart)) {
        for (const char c : kPart) {
            if (c == '@') text += std::to_string(part);
            else if (c == '%') text += std::to_string(part % 7 + 1);
            else text += c;
        }
    }
    return count;
}

// Seconds of one whole process; negative when it fails.
double run(std::vector<std::string> command) {
    const auto start = std::chrono::steady_clock::now();
    const Result<driver::ProcessResult> result = driver::run_process(command);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (result.ok() && result.value().exit_code == 0) return seconds;
    fmt::print("{} fails: {}\n", command[1], result.ok() ? result.value().error_output : result.error());
    return -1;
}

double best(const std::vector<std::string>& command) {
    double least = -1;
    for (int i = 0; i < 3; ++i) {
        const double one = run(command);
        if (one < 0) return -1;
        least = least < 0 ? one : std::min(least, one);
    }
    return least;
}

int measure(std::size_t wanted, const std::string& folder) {
    const std::string file = folder + "/generated.rsk";
    std::string text;
    const std::size_t lines = generate(wanted, text);
    if (!write_file_if_changed(file, text).ok()) return 1;
    const double check = best({OCKC_BINARY, "check", file});
    const double o1 = best({OCKC_BINARY, file, "-O1", "--verify", "off", "--out-dir", folder});
    const double o3 = best({OCKC_BINARY, file, "-O3", "--verify", "off", "--out-dir", folder});
    if (check < 0 || o1 < 0 || o3 < 0) return 1;
    rusage children{};
    getrusage(RUSAGE_CHILDREN, &children);
    const auto rate = [&](double seconds) { return static_cast<double>(lines) / seconds; };
    fmt::print("{:>8} lines  check {:>8.0f}/s  -O1 {:>8.0f}/s  -O3 {:>8.0f}/s  -O3/-O1 {:.2f}  peak {} MB\n", lines, rate(check), rate(o1),
               rate(o3), o3 / o1, children.ru_maxrss / 1024);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::string_view(argv[1]) == "--write") {
        std::string text;
        generate(std::strtoull(argv[3], nullptr, 10), text);
        return write_file_if_changed(argv[2], text).ok() ? 0 : 1;
    }
    std::vector<std::size_t> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    if (sizes.empty()) sizes = {10'000, 40'000, 200'000};
    const std::string folder = (fs::temp_directory_path() / "ockc-bench").string();
    fs::create_directories(folder);
    for (const std::size_t lines : sizes) {
        if (measure(lines, folder) != 0) return 1;
    }
    return 0;
}
