"""The polynomials of stdlib/core/num/math: what each one approximates, where, and with which weight.

coefficients.py derives them; a table's name is function_format.
"""
import dataclasses
import typing

import mpmath as mp


@dataclasses.dataclass
class Table:
    what: str
    format: str                                # f32 or f64
    f: typing.Callable
    low: object
    high: object
    powers: list
    weight: typing.Callable = None             # the error is relative to it; None: to f
    fixed: dict = dataclasses.field(default_factory=dict)   # power: coefficient that is given

    def __post_init__(self):
        if self.weight is None:
            self.weight = self.f


def one(_):
    return mp.mpf(1)


def odd(last):
    return list(range(1, last + 1, 2))


def even(last):
    return list(range(0, last + 1, 2))


def upto(last, first=0):
    return list(range(first, last + 1))


HALF_LN2 = mp.mpf("0.3467")
QUARTER_PI = mp.mpf("0.7854")
LOG2_E = 1 / mp.log(2)
LOG10_E = 1 / mp.log(10)


def log_rest(scale):
    """(log(1+x) - x) * scale / x^2."""
    return lambda x: (mp.log1p(x) - x) * scale / x**2


def log_weight(scale):
    return lambda x: mp.log1p(x) * scale / x**2


# erfc(a) * exp(a^2) * (1 + 2a), a smooth function of t = (a - K) / (a + K) on the whole half line (Shepherd and
# Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < infinity", Math. Comp. 36, 1981).
def scaled_erfc(k):
    def f(t):
        a = k * (1 + t) / (1 - t)
        return mp.erfc(a) * mp.exp(a * a) * (1 + 2 * a)

    return f


def atanh_rest(z):
    x = mp.sqrt(z)
    return (2 * mp.atanh(x / 2) - x - x**3 / 12) / x**5


def atanh_weight(z):
    x = mp.sqrt(z)
    return 2 * mp.atanh(x / 2) / x**5


def erf_rest(z):
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1


def t_of(a, k):
    return (mp.mpf(a) - k) / (mp.mpf(a) + k)


# Gamma(x) / (sqrt(2 pi) x^(x - 1/2) e^-x) as a function of 1 / x: Stirling's series, fitted.
def stirling_factor(y):
    x = 1 / y
    return mp.gamma(x) * mp.exp(x) / (mp.sqrt(2 * mp.pi) * x ** (x - mp.mpf("0.5")))


# log of it, over 1/x.
def stirling_log(y):
    x = 1 / y
    return (mp.loggamma(x) - ((x - mp.mpf("0.5")) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x


def gamma_factor(y):
    return stirling_factor(y) * mp.sqrt(2 * mp.pi)


def log_gamma_near(at):
    return lambda y: mp.loggamma(at + y) / y


SINGLE = {
    "expm1_f32": Table("expm1", "f32", mp.expm1, -HALF_LN2, HALF_LN2, upto(7, 1), None, {1: 1}),
    "log1p_f32": Table("(log1p(x) - x) / x^2", "f32", log_rest(1), "-0.2929", "0.4143", upto(9), log_weight(1)),
    "log2_f32": Table("(log2(1+x) - x log2(e)) / x^2", "f32", log_rest(LOG2_E), "-0.2929", "0.4143", upto(8), log_weight(LOG2_E)),
    "log10_f32": Table("(log10(1+x) - x log10(e)) / x^2", "f32", log_rest(LOG10_E), "-0.2929", "0.4143", upto(8), log_weight(LOG10_E)),
    "atanh_f32": Table("(2 atanh(x/2) - x - x^3/12) / x^5, in x^2", "f32", atanh_rest, "1e-8", "0.1178", upto(2), atanh_weight),
    "sin_f32": Table("sin", "f32", mp.sin, 0, QUARTER_PI, odd(9), None, {1: 1}),
    "cos_f32": Table("cos", "f32", mp.cos, 0, QUARTER_PI, even(8), one, {0: 1, 2: -0.5}),
    "tan_f32": Table("tan", "f32", mp.tan, 0, QUARTER_PI, odd(15), None, {1: 1}),
    "asin_f32": Table("asin", "f32", mp.asin, 0, "0.5", odd(11), None, {1: 1}),
    "atan_f32": Table("atan", "f32", mp.atan, 0, 1, odd(19), None, {1: 1}),
    "sinh_f32": Table("sinh", "f32", mp.sinh, 0, 1, odd(9), None, {1: 1}),
    "tanh_f32": Table("tanh", "f32", mp.tanh, 0, "0.56", odd(11), None, {1: 1}),
    "erf_f32": Table("erf(x) / x - 1, in x^2", "f32", erf_rest, 0, 1, upto(7), one),
    "erf_tail_f32": Table("-log2(erfc)", "f32", lambda x: -mp.log(mp.erfc(x), 2), 1, 4, upto(8), lambda x: 1 / mp.erfc(x)),
    "erfc_f32": Table("erfc(a) exp(a^2) (1 + 2a), a = 4 (1+t)/(1-t)", "f32", scaled_erfc(4), -1, t_of("10.1", 4), upto(11)),
    "gamma_f32": Table("gamma(x) / (x^(x - 1/2) e^-x), in 1/x", "f32", gamma_factor, "0.0001", "0.5001", upto(6)),
    "ln_gamma_f32": Table("the series of ln(gamma), in 1/x", "f32", stirling_log, "0.0001", "0.1251", upto(3), lambda y: 1 / y),
    "ln_gamma_1_f32": Table("ln(gamma(1 + y)) / y", "f32", log_gamma_near(1), "-0.5", "0.5", upto(13)),
    "ln_gamma_2_f32": Table("ln(gamma(2 + y)) / y", "f32", log_gamma_near(2), "-0.5", "1", upto(9)),
}

DOUBLE = {
    "exp_f64": Table("exp", "f64", mp.exp, -HALF_LN2, HALF_LN2, upto(12), None, {0: 1, 1: 1, 2: 0.5}),
    "expm1_f64": Table("expm1", "f64", mp.expm1, -HALF_LN2, HALF_LN2, upto(13, 1), None, {1: 1, 2: 0.5}),
    "atanh_f64": Table("2 atanh(x/2)", "f64", lambda x: 2 * mp.atanh(x / 2), "1e-17", "0.3432", odd(19), None, {1: 1}),
    "pow_f64": Table("(2 atanh(x/2) - x - x^3/12) / x^5, in x^2", "f64", atanh_rest, "1e-12", "0.1178", upto(8), atanh_weight),
    "sin_f64": Table("sin", "f64", mp.sin, 0, QUARTER_PI, odd(15), None, {1: 1}),
    "cos_f64": Table("cos", "f64", mp.cos, 0, QUARTER_PI, even(16), one, {0: 1, 2: -0.5}),
    "tan_f64": Table("tan", "f64", mp.tan, 0, QUARTER_PI, odd(31), None, {1: 1}),
    "asin_f64": Table("asin", "f64", mp.asin, 0, "0.5", odd(27), None, {1: 1}),
    "atan_f64": Table("atan", "f64", mp.atan, 0, 1, odd(41), None, {1: 1}),
    "sinh_f64": Table("sinh", "f64", mp.sinh, 0, 1, odd(17), None, {1: 1}),
    "tanh_f64": Table("tanh", "f64", mp.tanh, 0, "0.56", odd(23), None, {1: 1}),
    "erf_f64": Table("erf(x) / x - 1, in x^2", "f64", erf_rest, 0, 1, upto(13), one),
    "erfc_f64": Table("erfc(a) exp(a^2) (1 + 2a), a = 4 (1+t)/(1-t)", "f64", scaled_erfc(4), -1, t_of("27.3", 4), upto(23)),
    "gamma_f64": Table("gamma(x) / (x^(x - 1/2) e^-x), in 1/x", "f64", gamma_factor, "0.0001", "0.1667", upto(11)),
    "ln_gamma_f64": Table("the series of ln(gamma), in 1/x", "f64", stirling_log, "0.0001", "0.1251", upto(9), lambda y: 1 / y),
    "ln_gamma_1_f64": Table("ln(gamma(1 + y)) / y", "f64", log_gamma_near(1), "-0.5", "0.5", upto(27)),
    "ln_gamma_2_f64": Table("ln(gamma(2 + y)) / y", "f64", log_gamma_near(2), "-0.5", "1", upto(20)),
}

TABLES = SINGLE | DOUBLE
