"""Entry point of `python -m regress`."""

import sys

from regress.cli import main

sys.exit(main())
