"""Entry point of `python -m regress`."""

import sys

try:
    from regress.cli import main
except ImportError as missing:
    # Python's own exit code for it is 1, which would be read as a regression.
    sys.stderr.write(f"regress: {missing}; install this project: pip install -e .\n")
    sys.exit(2)

sys.exit(main())
