"""The derivative rules, in files named like the parts of NumPy's and SciPy's own manuals."""

from importlib import import_module

for _name in (
    "ufuncs",
    "math",
    "operators",
    "reductions",
    "shapes",
    "joining",
    "indexing",
    "products",
    "einsum",
    "linalg",
    "norms",
    "spectral",
):
    import_module(f".{_name}", __name__)
