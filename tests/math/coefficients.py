#!/usr/bin/env python3
"""Derives every polynomial of stdlib/core/num/math and checks that the sources hold what it derives.

    coefficients.py                 prints all tables
    coefficients.py NAME..          prints these
    coefficients.py --check DIR     looks for every table's numbers, in order, in the .rsk files under DIR

A table approximates f by a sum of c[i] * x^p[i] on [low, high] so that the largest |error / weight| is least (Remez's
exchange algorithm on a grid of Chebyshev points, in 60 digits). Its coefficients are then rounded to the machine's
format one after the other, the one of the lowest power first, and the rest is fitted again after each, so that later
coefficients make good for the rounding of earlier ones. Needs Python 3.9 and mpmath.
"""
import pathlib
import re
import struct
import sys

import mpmath as mp

from tables import TABLES

mp.mp.dps = 60


def to_f32(x):
    """The f32 nearest to the number x, exactly."""
    m, e = mp.frexp(mp.mpf(x))
    return mp.ldexp(mp.nint(mp.ldexp(m, 24)), int(e) - 24)


def to_f64(x):
    """The f64 nearest to the number x, exactly."""
    return mp.mpf(float(mp.mpf(x)))


def f32_text(x):
    """The shortest decimal text that reads back as the f32 x."""
    for digits in range(1, 10):
        text = f"{float(x):.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", float(x)):
            return rust(text)
    raise ValueError(x)


def f64_text(x):
    return rust(repr(float(x)))


def rust(text):
    """A Rust float literal as rustfmt leaves it."""
    text = re.sub(r"e([+-])0*(\d)", lambda m: "e" + m.group(1).replace("+", "") + m.group(2), text)
    return text if "." in text or "e" in text else text + ".0"


ROUND = {"f32": (to_f32, f32_text), "f64": (to_f64, f64_text)}


def remez(points, values, weights, powers):
    """Coefficients of x^p that bring the largest |sum - value| / weight over the points to its least."""
    n = len(powers)
    if n == 0:
        return []
    step = (len(points) - 1) / n
    chosen = [round(i * step) for i in range(n + 1)]
    columns = [[x ** p for p in powers] for x in points]
    best = None
    for _ in range(40):
        a = mp.matrix(n + 1, n + 1)
        b = mp.matrix(n + 1, 1)
        for row, i in enumerate(chosen):
            for col in range(n):
                a[row, col] = columns[i][col]
            a[row, n] = weights[i] * (-1) ** row
            b[row] = values[i]
        solution = mp.lu_solve(a, b)
        coefficients = [solution[i] for i in range(n)]
        errors = [
            (mp.fdot(coefficients, columns[i]) - values[i]) / weights[i] for i in range(len(points))
        ]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[0]:
            best = (worst, coefficients)
        if worst <= abs(solution[n]) * mp.mpf("1.0001"):
            break
        chosen = exchange(errors, n + 1) or chosen
    return best[1]


def exchange(errors, count):
    """The places of `count` alternating extrema of the errors, the largest among them."""
    extrema = []
    for i, e in enumerate(errors):
        if extrema and (e > 0) == (errors[extrema[-1]] > 0):
            if abs(e) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    while len(extrema) > count:  # drop the weaker end
        extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
    return extrema if len(extrema) == count else None


def derive(table):
    low, high = mp.mpf(table.low), mp.mpf(table.high)
    count = 40 * (len(table.powers) + 2)
    points = [
        (low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)
    ]
    points = [x for x in points if x != 0]
    rest = [table.f(x) for x in points]
    weights = [abs(table.weight(x)) for x in points]
    powers = list(table.powers)
    round_to, _ = ROUND[table.format]
    done = []
    fitted = []  # what the fit before gave for the remaining powers
    while powers:
        power = powers[0]
        if power in table.fixed:
            c = mp.mpf(table.fixed[power])
            fitted = []
        else:
            again = remez(points, rest, weights, powers)
            # Powers above 0 are no Chebyshev system around x = 0: a new fit need not be the better one.
            if not fitted or worst(points, rest, weights, powers, again) < worst(points, rest, weights, powers, fitted):
                fitted = again
            c = round_to(fitted.pop(0))
        done.append(c)
        rest = [r - c * x**power for r, x in zip(rest, points)]
        powers.pop(0)
    return done, max(abs(r) / w for r, w in zip(rest, weights))


def worst(points, values, weights, powers, coefficients):
    return max(
        abs(mp.fsum(c * x**p for c, p in zip(coefficients, powers)) - v) / w
        for x, v, w in zip(points, values, weights)
    )


def texts(table):
    coefficients, error = derive(table)
    return [ROUND[table.format][1](c) for c in coefficients], error


def main(arguments):
    check = arguments[:1] == ["--check"]
    source = ""
    if check:
        files = sorted(pathlib.Path(arguments[1]).rglob("*.rsk"))
        source = "".join(re.sub(r"//[^\n]*", "", f.read_text()) for f in files)
        source = re.sub(r"[\s_]", "", source)
        arguments = []
    missing = 0
    for name, table in TABLES.items():
        if arguments and name not in arguments:
            continue
        numbers, error = texts(table)
        if check:
            if table.fixed.get(table.powers[0]) == 1 and table.powers[0] == 1:
                numbers = numbers[1:]  # written as `fma(.., x, x)`
            if ",".join(numbers) not in source:
                print(f"{name}: not in the sources")
                missing += 1
            continue
        print(f"// {name}: {table.what}; largest error {mp.nstr(error, 3)}")
        print("    " + ", ".join(numbers), flush=True)
    if check:
        print(f"{len(TABLES) - missing} tables found, {missing} missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
