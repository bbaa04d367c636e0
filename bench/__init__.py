"""Timings against gradients written by hand: ``python -m bench.run``."""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read once, when NumPy is imported
