# srcgrad: value_and_grad of tests.programs.three_steps (programs.py:51)
#   x   float64[4]   differentiated
#   a   float        differentiated
import numpy as np


def three_steps_value_and_grad(x, a):
    multiply = a * x                                         # programs.py:53
    x_1 = x - 0.1 * np.sin(multiply)
    multiply_1 = a * x_1
    x_2 = x_1 - 0.1 * np.sin(multiply_1)
    multiply_2 = a * x_2
    sum_1 = np.sum(x_2 - 0.1 * np.sin(multiply_2))           # programs.py:54

    # Backward: t_bar is the derivative of sum_1 with respect to t.
    multiply_2_bar = -0.1 * np.cos(multiply_2)               # programs.py:53
    x_bar = multiply_2_bar * a
    x_bar += 1.0
    multiply_1_bar = -x_bar * 0.1 * np.cos(multiply_1)
    x_bar += multiply_1_bar * a
    multiply_bar = -x_bar * 0.1 * np.cos(multiply)
    a_bar = np.sum(multiply_2_bar * x_2) + np.sum(multiply_1_bar * x_1)
    x_bar += multiply_bar * a
    return sum_1, (x_bar, a_bar + np.sum(multiply_bar * x))


# srcgrad: the backward half, of the values that the forward run kept
import numpy as np


def adjoint(x, a, multiply, x_1, multiply_1, x_2, multiply_2):
    multiply_2_bar = -0.1 * np.cos(multiply_2)               # programs.py:53
    x_bar = multiply_2_bar * a
    x_bar += 1.0
    multiply_1_bar = -x_bar * 0.1 * np.cos(multiply_1)
    x_bar += multiply_1_bar * a
    multiply_bar = -x_bar * 0.1 * np.cos(multiply)
    a_bar = np.sum(multiply_2_bar * x_2) + np.sum(multiply_1_bar * x_1)
    x_bar += multiply_bar * a
    return x_bar, a_bar + np.sum(multiply_bar * x)
