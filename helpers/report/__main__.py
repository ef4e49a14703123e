"""`python -m helpers.report`."""

import sys

from helpers.report import main

if __name__ == "__main__":
    sys.exit(main())
