"""The derivative rules, in files named like the parts of NumPy's and SciPy's own manuals."""
