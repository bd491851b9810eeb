"""What is measured: attention workloads, the names of backends, and the record of a round.

Pure and small: nothing here imports torch, an attention library, `benchmarks` or `regress`.
Both of those may import this package; they meet in nothing else but files.
"""
