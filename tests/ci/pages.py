"""What the page tells people to write into their repository, with names for its placeholders."""

import re

from tests.ci.act import COMMIT, ROOT, SUITE

PAGE = (ROOT / "regress" / "docs" / "gate-elsewhere.md").read_text(encoding="utf-8")
CALLER, DIRECT, KNOWN_LABELS = (
    block.replace("OWNER/attention-regress", SUITE).replace("COMMIT", COMMIT)
    for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
)
"""The gate, measuring alone, and what actionlint is told of labels for the latter."""
RUNNABLE = re.sub(r"(?m)^cache-mode:.*\n", "", CALLER)
"""act does not know that line."""
