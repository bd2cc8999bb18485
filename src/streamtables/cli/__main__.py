"""`python -m streamtables.cli`: the command line where no script is installed."""

import sys

from streamtables.cli.app import main

sys.exit(main())
