"""The words of a judgement: verdicts, reasons, findings, reports, and the cells they are about."""
