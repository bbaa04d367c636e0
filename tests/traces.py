"""Small traces built by hand, and random ones, for the tests of the passes and of the text."""

from __future__ import annotations

import operator
import random
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.trace import Branch, Call, Input, Loop, Step, Trace, Var, substitute, var_of


class Build:
    """Records calls while it makes them: ``b(np.sin, x)`` is a new variable.

    >>> b = Build(x=np.ones(3))
    >>> print(b.trace(b(np.sum, b.x)))
    trace(a: float64[3]):
        b = np.sum(a)
        return b
    """

    def __init__(self, **inputs: Any) -> None:
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.values: dict[Var, Any] = {}
        self.forward: set[Var] = set()
        for name, value in inputs.items():
            setattr(self, name, self.input(name, value))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def input(self, name: str, value: Any, kind: str = "argument") -> Var:
        var = var_of(value)
        self.values[var] = value
        self.inputs.append(Input(var, kind, name))
        return var

    def __call__(self, function: Any, *args: Any, origin: Any = None, **kwargs: Any) -> Any:
        value = function(*self.of(args), **self.of(kwargs))
        out: Any = self.new(value)
        self.steps.append(Call(function, args, kwargs, out, origin))
        return out

    def new(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.new(v) for v in value)
        var = var_of(value)
        self.values[var] = value
        return var

    def of(self, tree: Any) -> Any:
        """Return the values of variables."""
        return substitute(tree, self.values.__getitem__)

    def add(self, step: Branch | Loop) -> Any:
        """Add a step that owns inner traces."""
        inner = Trace(tuple(Input(v) for v in dict.fromkeys(step.reads())), (step,), step.outs)
        results = inner.run(*(self.values[i.var] for i in inner.inputs))
        self.values.update(zip(step.outs, results, strict=True))
        self.steps.append(step)
        return step.outs

    def forward_ends(self) -> None:
        """Let what was recorded so far be the forward half."""
        self.forward = {v for s in self.steps for v in s.outs}

    def trace(self, *outputs: Var) -> Trace:
        return Trace(tuple(self.inputs), tuple(self.steps), outputs).check()

    @property
    def arguments(self) -> list[Any]:
        return [self.values[i.var] for i in self.inputs]


UNARY = (np.sin, np.exp, np.negative, np.tanh, np.square, np.positive, np.abs, np.conj, np.real)
BINARY = (
    *(np.add, np.subtract, np.multiply, np.add, np.multiply, np.maximum, np.arctan2, np.logaddexp),
    *(operator.add, operator.sub, operator.mul),
)
CONSTANTS = (1.0, -1.0, 2.0, 0.5, -3.5, 1, -1, 0.0, -0.0)
SHAPES = ((), (1,), (3,), (1, 3), (2, 1), (2, 3))
INDICES: tuple[Any, ...] = (slice(1, None), slice(None, -1), 0, -1, (Ellipsis, None), [0, 0, 1])


class RandomProgram:
    """Grows a random program, step by step, over values of a few shapes."""

    def __init__(self, seed: int, size: int) -> None:
        self.rng = random.Random(seed)
        numbers = np.random.default_rng(seed)
        self.b = Build(
            x=numbers.standard_normal(3),
            y=numbers.standard_normal((2, 3)),
            s=numbers.standard_normal(),
            h=numbers.standard_normal(3).astype(np.float32),
            i=np.array([2, 0, 2]),
            m=np.array([True, False, True]),
        )
        self.pool = [self.b.x, self.b.y, self.b.s, self.b.h, self.b.x]
        self.bars: dict[Var, Var] = {}
        while len(self.b.steps) < size:
            self.grow()

    def grow(self) -> None:
        kinds = (
            *(self.unary, self.binary, self.binary, self.constant, self.constant, self.reduce),
            *(self.shape, self.broadcast, self.index, self.write, self.write, self.accumulate),
            *(self.unit, self.branch, self.loop, self.creation),
        )
        with np.errstate(all="ignore"):
            self.rng.choice(kinds)()

    def pick(self, ndim: int | None = None) -> Var:
        fitting = [v for v in self.pool if ndim is None or v.ndim == ndim]
        recent = fitting[-6:]
        return self.rng.choice(recent if self.rng.random() < 0.7 else fitting)

    def keep(self, out: Any) -> Any:
        for var in out if type(out) is tuple else (out,):
            if var.shape in SHAPES:
                self.pool.append(var)
        return out

    def unary(self) -> None:
        self.keep(self.b(self.rng.choice(UNARY), self.pick()))

    def binary(self) -> None:
        function, a, b = self.rng.choice(BINARY), self.pick(), self.pick()
        self.keep(self.b(function, a, b))

    def constant(self) -> None:
        args: list[Any] = [self.pick(), self.rng.choice(CONSTANTS)]
        function = self.rng.choice((np.add, np.multiply, np.subtract, np.multiply, np.divide))
        if function is not np.divide:
            self.rng.shuffle(args)
        elif args[1] == 0:
            return
        self.keep(self.b(function, *args))

    def reduce(self) -> None:
        a = self.pick()
        axis = self.rng.choice((None, -1, ())) if a.ndim else None
        keepdims = self.rng.random() < 0.5
        self.keep(self.b(np.sum, a, axis=axis, keepdims=keepdims) if a.ndim else self.b(np.sum, a))

    def shape(self) -> None:
        a = self.pick()
        match self.rng.randrange(5):
            case 0:
                self.keep(self.b(np.reshape, a, a.shape))
            case 1:
                self.keep(self.b(np.transpose, a)) if a.shape == (3,) else None
            case 2 if a.shape == (2, 3):
                self.keep(self.b(np.transpose, self.b(np.transpose, a)))
            case 3 if a.kind == "array":
                dtype = self.rng.choice((np.float64, np.float32))
                self.keep(self.b(np.ndarray.astype, a, dtype))
            case 4 if a.shape == (3,):
                self.keep(self.b(np.ravel, a))

    def broadcast(self) -> None:
        shape = self.rng.choice(((3,), (2, 3)))
        a = self.pick()
        if a.ndim and a.shape != shape[-a.ndim :]:
            return
        out = self.keep(self.b(np.broadcast_to, a, shape))
        self.keep(self.b(self.rng.choice((np.multiply, np.add)), out, self.pick(len(shape))))

    def index(self) -> None:
        a = self.pick()
        if a.ndim:
            picks = (*INDICES, self.b.i) if a.shape[0] == 3 else INDICES[:-1]
            index = self.rng.choice(picks)
            out = self.b(operator.getitem, a, index)
            if out.shape in ((3,), (2, 3), ()):
                self.keep(out)
            else:
                self.keep(self.b(np.sum, out))

    def write(self) -> None:
        """Zeros, then a chain of writes, with reads between them now and then."""
        fresh = self.rng.random() < 0.7
        zeros = self.b(np.zeros, 3) if fresh else self.pick(1)
        if zeros.shape != (3,) or zeros.kind != "array":
            return
        for _ in range(self.rng.randint(1, 3)):
            index = self.rng.choice((slice(1, None), 0, self.b.i, self.b.m, [0, 0, 1]))
            function = self.rng.choice((runtime.add_at, runtime.set_at))
            value = self.b(np.sum, self.pick())
            if self.rng.random() < 0.3:
                self.keep(self.b(np.sin, zeros))
            zeros = self.b(function, zeros, index, value)
            if self.rng.random() < 0.2:
                self.keep(self.b(operator.getitem, zeros, slice(None)))
        self.keep(zeros)

    def accumulate(self) -> None:
        """Contributions to a cotangent."""
        total = self.b(np.multiply, self.pick(1), 2.0)
        if total.shape != (3,):
            return
        self.bars[total] = self.b.x
        for _ in range(self.rng.randint(1, 3)):
            other = self.pick(1)
            if other.same_type(total):
                total = self.b(np.add, total, other)
                self.bars[total] = self.b.x
        self.keep(total)

    def unit(self) -> None:
        g = self.b(np.float64, 1.0)
        shared = self.b(np.divide, g, 3.0)
        big = self.b(np.broadcast_to, self.rng.choice((g, shared)), (3,))
        self.keep(self.b(np.multiply, big, self.pick(1)))

    def creation(self) -> None:
        out = self.b(np.full, (3,), self.b.s)
        self.keep(self.b(np.multiply, out, self.pick(1)))

    def branch(self) -> None:
        a, c = self.pick(1), self.pick(0)
        if a.shape != (3,):
            return
        test = self.b(np.less, c, 0.25)
        then, orelse = Build(a=self.b.values[a]), Build(a=self.b.values[a])
        arms = (
            then.trace(then(np.multiply, then(np.sin, then.a), then.a)),
            orelse.trace(self.rng.choice((orelse.a, orelse(np.multiply, orelse.a, 3.0)))),
        )
        out = arms[0].outputs[0].like()
        if arms[1].outputs[0].same_type(out):
            self.keep(self.b.add(Branch(test, *arms, (a,), (out,))))

    def loop(self) -> None:
        a = self.pick(1)
        if a.shape != (3,) or a.dtype != float or a.kind != "array":
            return
        start = self.b(np.zeros, 3)
        body = Build(p=np.zeros(3), q=np.zeros(3), k=np.zeros(3))
        p = body(np.sin, body(np.add, body.q, body.k))
        q = body(np.add, body.q, body(np.multiply, body.p, 0.5))
        inner = body.trace(p, q, self.rng.choice((p, body.p)))
        outs = (p.like(), q.like())
        stack = Var("stack", np.dtype(object), (3,))
        step = Loop(inner, (a, start), (), (self.b.x,), outs, (stack,), count=3)
        got = self.b.add(step)
        self.keep(got[:2])
        back = Build(g=np.zeros(3), s=np.zeros(3))
        g = back(np.add, back.g, back(np.multiply, back.s, 2.0))
        bars = {back.g: self.b.x, g: self.b.x}
        self.bars.update(bars)
        first = self.b(np.multiply, self.b.x, 2.0)
        out = g.like()
        self.keep(
            self.b.add(
                Loop(back.trace(g), (first,), (stack,), (), (out,), (), reverse=True),
            )
        )

    def trace(self) -> Trace:
        count = self.rng.randint(1, 4)
        outputs = tuple(self.pick() for _ in range(count))
        return self.b.trace(*outputs)


def random_trace(seed: int, size: int = 25) -> tuple[RandomProgram, Trace]:
    """Return a random program and its trace."""
    program = RandomProgram(seed, size)
    return program, program.trace()


def same(a: Any, b: Any) -> bool:
    """Tell whether two results agree: type, shape, dtype, and values up to a few roundings."""
    if type(a) is not type(b) or np.shape(a) != np.shape(b):
        return False
    if np.asarray(a).dtype != np.asarray(b).dtype:
        return False
    rtol = 1e-4 if np.asarray(a).dtype == np.float32 else 1e-10
    return bool(np.allclose(a, b, rtol=rtol, atol=1e-12, equal_nan=True))
