#!/usr/bin/env python3
"""A small cache of parsed documents."""

from __future__ import annotations

import asyncio
import json, re
import os.path as osp
from collections import (
    OrderedDict,
    defaultdict as dd,
)
from typing import Any, Generic, TypeVar

T = TypeVar("T")
MAX_SIZE: int = 1_000
_WORD = re.compile(r"\b(\w+)\b", re.I | re.M)
counts: dict[str, list[int]] = dd(list)
type Pair[A] = tuple[A, A]


class CacheError(Exception):
    pass


def traced(level: str = "info", *, name: str | None = None):
    def wrap(func):
        async def inner(*args, **kwargs):
            print(f"{level!r:>10} {name or func.__name__}({', '.join(map(str, args))})")
            return await func(*args, **kwargs)

        return inner

    return wrap


class Cache(OrderedDict, Generic[T], metaclass=type):
    """Keeps the newest documents."""

    limit: int = MAX_SIZE
    hits = misses = 0

    def __init__(self, limit: int | None = None, /, **options: Any) -> None:
        super().__init__()
        self.limit = limit if limit is not None else self.limit
        self.options = {"strict": False, **options}

    @property
    def ratio(self) -> float:
        return self.hits / (self.hits + self.misses or 1)

    @classmethod
    def of(cls, *items: T) -> "Cache[T]":
        cache = cls(len(items))
        for i, item in enumerate(items, start=1):
            cache[i] = item
        else:
            cache.hits += 0
        return cache

    @traced("debug", name="load")
    async def load(self, path: str, retries=3) -> T:
        if path in self:
            self.hits += 1
            return self[path]
        self.misses += 1
        while retries > 0:
            try:
                with open(path, encoding="utf-8") as file, asyncio.Lock() as _lock:
                    self[path] = (data := json.load(file))
            except (OSError, json.JSONDecodeError) as error:
                retries -= 1
                if not retries:
                    raise CacheError(f"cannot load {path}") from error
                continue
            except ValueError:
                raise
            else:
                return data
            finally:
                del file

    def words(self):
        """Yields every word of every document."""
        for text in self.values():
            yield from (m.group(1).lower() for m in _WORD.finditer(text) if m)


def describe(value: Any) -> str:
    match value:
        case None | []:
            return "empty"
        case {"kind": str(kind), **rest} if rest:
            return kind
        case [first, *_, last] | (first, last):
            return f"{first} to {last}"
        case Cache(limit=0) as cache:
            return repr(cache)
        case -1 | "minus":
            pass
        case _:
            assert value, "never empty here"
    return "other" if value else ""


async def main(paths: list[str]) -> int:
    global counts
    cache: Cache[dict] = Cache(10, strict=True)
    results = [await cache.load(p) for p in paths if p.endswith((".json", ".js"))]
    async for chunk in stream(cache):
        counts[chunk[0]].append(chunk[1:-1:2])
    by_size = {osp.basename(p): len(p) for p in paths}; unique = {*by_size.values()}
    first, *others = sorted(unique, key=lambda n: (-n, n % 2 == 0))
    matrix = [[1, 2], [3, 4]]
    matrix[0][1], matrix[1][0] = matrix[1][0], matrix[0][1]
    total = sum(x @ y if x is not y else ~x for x, y in zip(results, others))
    print("total", total, "first", first, sep="\t", end="\n\n")
    return 0 if 1 < total <= 10 ** 3 and not isinstance(first, bool) else 1


async def stream(cache):
    yield ...
    await asyncio.sleep(0)
    text = "one" \
        "two" b"three".decode()


if __name__ == "__main__":
    import sys

    sys.exit(asyncio.run(main(sys.argv[1:])))
