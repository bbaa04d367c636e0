"""srcgrad: exact gradients of plain NumPy functions, as readable NumPy source.

>>> import numpy as np, srcgrad
>>> @srcgrad.grad
... def loss(w):
...     return np.sum(w * w)
>>> loss(np.array([1.0, 2.0]))
array([2., 4.])
"""

from . import errors, rules
from .api import elementwise_grad, grad, value_and_grad, vjp
from .custom import custom_gradient, custom_vjp, defvjp, grad_hook, primitive, stop_gradient
from .errors import (
    ArgumentError,
    ArrayTypeError,
    ConversionError,
    ConversionWarning,
    CotangentError,
    InPlaceError,
    NoDerivativeError,
    OutputError,
    TapeError,
    UnconnectedGradientError,
    UnconnectedGradientWarning,
    UnwatchedError,
)
from .specialize import cache_info, clear_cache
from .tape import GradientTape, Variable, constant
from .tree import register_container

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "ArrayTypeError",
    "ConversionError",
    "ConversionWarning",
    "CotangentError",
    "GradientTape",
    "InPlaceError",
    "NoDerivativeError",
    "OutputError",
    "TapeError",
    "UnconnectedGradientError",
    "UnconnectedGradientWarning",
    "UnwatchedError",
    "Variable",
    "cache_info",
    "clear_cache",
    "constant",
    "custom_gradient",
    "custom_vjp",
    "defvjp",
    "elementwise_grad",
    "errors",
    "grad",
    "grad_hook",
    "primitive",
    "register_container",
    "rules",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
