# srcgrad: value_and_grad of tests.programs.damped (programs.py:137)
#   t       float   differentiated
#   omega   float   argument
import numpy as np


def damped_value_and_grad(t, omega):
    exp = np.exp(-t)                                         # programs.py:138
    multiply = omega * t
    multiply_1 = exp * np.cos(multiply)
    return multiply_1, exp * -np.sin(multiply) * omega - multiply_1


# srcgrad: the backward half, of the values that the forward run kept
import numpy as np


def adjoint(omega, exp, multiply, multiply_1):
    return exp * -np.sin(multiply) * omega - multiply_1
