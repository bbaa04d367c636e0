# srcgrad: value_and_grad of tests.programs.with_if (programs.py:16)
#   x   float   differentiated
import numpy as np


def with_if_value_and_grad(x):
    multiply_x = x * x                                       # programs.py:20
    return multiply_x * x, multiply_x + multiply_x + multiply_x


# srcgrad: the backward half, of the values that the forward run kept
import numpy as np


def adjoint(multiply):
    return multiply + multiply + multiply
