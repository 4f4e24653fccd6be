"""A small store of orders."""

from __future__ import annotations

import os
import sys as system
from collections import defaultdict, OrderedDict
from dataclasses import dataclass, field
from typing import Optional

LIMIT = 32
NAMES: dict[str, int] = {"one": 1, 'two': 2, **{"three": 3}}


class OrderError(Exception):
    pass


@dataclass(frozen=True)
class Line:
    price: int
    count: int = 1
    tags: list = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.price * self.count

    @staticmethod
    def of(text: str, *, sep: str = ",") -> "Line":
        price, count = text.split(sep, 1)
        return Line(int(price), int(count))


class Order(Base, metaclass=Meta):
    """An order
    with lines.
    """

    kind = "order"

    def __init__(self, name, lines=(), *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.name = name
        self.lines = [line for line in lines if line.price > 0]

    def add(self, line):
        # At most LIMIT of them.
        if len(self.lines) >= LIMIT:
            raise OrderError("too many: %d" % len(self.lines))
        elif line is None:
            return False
        else:
            self.lines.append(line)
        return True

    def total(self):
        return sum(l.total for l in self.lines) or 0

    async def fetch(self, client, timeout=3.0):
        async with client.open(f"{client.base}/{self.name}") as res:
            body = await res.read(timeout=timeout)
        return body.decode("utf-8") if body else None


def group(items, key):
    groups = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def walk(root):
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
    else:
        yield from ()


def read(path, default=None):
    try:
        with open(path, "rb") as file, lock(path):
            data = file.read()
    except FileNotFoundError:
        return default
    except (OSError, ValueError) as error:
        log(error, path)
        raise
    finally:
        done(path)
    x = data[1:-1]
    y = lambda a, b=2: a ** b - 1
    z = {k: v for k, v in NAMES.items() if not v == 0}
    assert x, "empty"
    del stack[0], y
    global counter
    counter += 1
    return x, z, not y, -counter


def classify(value):
    match value:
        case 0:
            return "zero"
        case int() | float() if value < 0:
            return "negative"
        case [first, *rest]:
            return first
        case _:
            pass
    text = '''
    keep
      this
    '''
    long = compute(
        value,
        text,
        key=os.path.join("a", "b"),
        *NAMES,
    )
    if (n := len(long)) > 3 and value in (1, 2, 3): print(n); return n
    return long if n else [1, 2, 3,]


if __name__ == "__main__":
    system.exit(main(system.argv[1:]))
