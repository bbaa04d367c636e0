"""Hooks that behave like plain code, and what tests of instrumented functions share."""

from __future__ import annotations

import copy
import importlib.util
import os
import textwrap
import types

from srcgrad.capture.instrument import instrument, needs_instrumentation


class Recording:
    """Hooks that do what plain code does, and write down the calls of hooks as text."""

    def __init__(self):
        self.events = []

    def call(self, function, /, *args, **kwargs):
        self.events.append(f"call {getattr(function, '__name__', type(function).__name__)}")
        return self.entered(function)(*args, **kwargs)

    def entered(self, function):
        if isinstance(function, types.MethodType):
            return types.MethodType(self.entered(function.__func__), function.__self__)
        twin = instrument(function, self) if needs_instrumentation(function) else None
        return function if twin is None else twin

    def load(self, value, name, /):
        self.events.append(f"load {name}")
        return value

    def iterate(self, iterable, /):
        self.events.append("iterate")
        return iterable

    def store_attribute(self, value, obj, attribute, /):
        self.events.append(f"store .{attribute}")
        setattr(obj, attribute, value)

    def store_item(self, value, obj, key, /):
        self.events.append(f"store [{key!r}]")
        obj[key] = value

    def leave(self, value, /):
        self.events.append("leave")
        return value


def module(folder, text, name="sample"):
    """Import `text` from a file of its own."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    os.utime(path, ns=(1, 1))
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def both(function, *args):
    """Return the results of `function` and of its twin."""
    twin = instrument(function, Recording())
    assert twin is not None and twin is not function
    return function(*copy.deepcopy(args)), twin(*copy.deepcopy(args))
