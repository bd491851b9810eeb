"""From stack tags to a report: load, choose what may be compared, detect, sum up."""
