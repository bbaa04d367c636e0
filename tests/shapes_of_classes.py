"""More rows of `shapes`: classes, methods, attributes."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field

from .shapes import scale, shape
from .shapes_of_statements import Holder


class Base:
    factor = 2

    def __init__(self, w=1):
        self.w = w

    def act(self, x):
        return x * self.w + self.factor

    @staticmethod
    def plain(x):
        return x + scale

    @classmethod
    def make(cls, w):
        return cls(w)

    @functools.cached_property
    def cached(self):
        return self.w + scale

    def __add__(self, other):
        return type(self)(self.w + other.w)


class _Derived(Base):  # its private names are mangled without the underscores
    def __init__(self, w):
        super().__init__(w)
        self.__own = [w]

    def act(self, x):
        return super().act(x) + super(_Derived, self).act(x) + self.__own[0] + self.__more(x)

    def __more(self, x, *, __k=3):
        def inner():
            return self.__own, __class__.__name__, __k

        return len(inner()[0]) + x

    @classmethod
    def make(cls, w):
        return super().make(w + 1)

    @property
    def private(self):
        return sum(v for v in self.__own)


Derived = _Derived


@shape(3)
def methods(x):
    a, b = Base(2), Derived(4)
    d = Derived.make(5)
    return a.act(x), b.act(x), d.w, Base.plain(x), b.private, (a + a).w, a.cached, Base.act(a, 1)


@dataclass
class Layer:
    w: int
    log: list[int] = field(default_factory=list)

    def __call__(self, x):
        self.log.append(x)
        return x * self.w

    def grown(self, **changes):
        return Layer(**{**vars(self), **changes})


@shape(3)
def dataclasses_(x):
    layers = [Layer(1), Layer(w=2)]
    for layer in layers:
        x = layer(x)
    return x, layers[1].log, layers[0].grown(w=7), layers[0] == Layer(1, [3])


@shape(3)
def local_class(x):
    shift = 10

    class Local(Base, metaclass=type):
        """A class in a function."""

        factor = x + shift
        table = [i * 2 for i in range(x)]
        __hidden = 5

        def act(self, y):
            self.__seen = y
            return super().act(y) + shift + self.__hidden + self.__seen

    return Local(2).act(x), Local.table, Local.__qualname__, Local.act.__qualname__, Local.__doc__


class Maker:
    def __getattr__(self, name):
        return lambda *args: (name, args)


@shape(1)
def dynamic_attributes(x):
    return Maker().anything(x), getattr(Maker(), "other")(x), Maker().a.__name__


@shape(1)
def long_chains(x):
    h = Holder(1)
    h.a = Holder(2)
    h.a.b = Holder(x)
    return h.a.b.w, h.a.b.double, h.a.b[h.a.w], h.a(x), h.a.b.log.count(1)


@shape(2)
def multi_line(x):
    return (
        str(x)
        .replace(
            "2",
            "3",
        )
        .join(["a", "b"])
    )


@shape(3)
def asynchronous_inside(x):
    import asyncio

    async def numbers(n):
        for i in range(n):
            yield i

    async def run():
        await asyncio.sleep(0)
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.sleep, 0)
        return [i async for i in numbers(x)], [await _one() for _ in range(1)]

    async def _one():
        return scale

    return asyncio.run(run())
