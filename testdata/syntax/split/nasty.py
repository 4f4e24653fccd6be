#!/usr/bin/env python
"""Module doc with class Fake: inside
def fake():
"""
from __future__ import annotations
import os; import sys

# A comment of the constant
CONSTANT = {
    "a": 1,
"b": [
2, 3],
}
CONTINUED = 1 + \
    2
TEXT = '''
class NotAClass:
    def nor(self): "
''' + r"raw \" quote" + b'bytes \''.decode()
FORMAT = f"{CONSTANT['a']:>{10}} {{literal}} {TEXT!r:^20}" f'{"nested"}'

if os.name == "nt":
    import ntpath
    # deeper comment
elif sys.platform:
    pass
# comment before else
else:
    x = 1

try:
    risky()
except (ValueError,
        TypeError) as error:
    raise
finally:
    done()

for a in b: print(a)

@decorate(
    option="}",
)
# comment under a decorator
@second
async def function(a, *, b: int = 1) -> "str":
    """Doc."""
    class Local:
        def method(self): return 1
    # trailing comment of the function
    return [c for c in a if c]
    # last comment inside

# comment before the class
class Plain: pass

@dataclass
class Outer(Base[int], metaclass=Meta):
    """Doc of the class."""

    field: int = 0  # trailing comment
    # comment before a member
    @property
    def name(self):
        return self._name

# shallow comment inside the class
    @name.setter
    def name(self, value):
        if value:
            self._name = value

        # blank line above
        else:
            self._name = ""

    class Inner:
        a = 1

        def deep(self): return lambda x: {
            "k": x}
        # end of Inner
    after = 2
    # end of Outer

while True:
	break
match command:
    case [x, "}"]:
        pass
class OnlyDoc:
    """Only a doc."""
if __name__ == "__main__":
    main()
