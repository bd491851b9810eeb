"""`thresholds`: where planners stop splitting, and odd shapes along a line."""
