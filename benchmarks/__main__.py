"""Entry point of `python -m benchmarks`."""

import sys

if __name__ == "__main__":
    from benchmarks.cli import main

    sys.exit(main())
