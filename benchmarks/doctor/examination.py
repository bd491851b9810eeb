"""All rules applied to a host, and what that says as text, JSON and a table."""

from typing import Final

import msgspec

from benchmarks.doctor.card_rules import CARD_RULES
from benchmarks.doctor.rule import Finding, Rule, Severity
from benchmarks.doctor.setup_rules import GPU, SETUP_RULES
from benchmarks.doctor.snapshot import Host

__all__ = ["RULES", "examine", "is_fit", "render_json", "render_rules", "render_text"]

RULES: Final[tuple[Rule, ...]] = (GPU, *SETUP_RULES, *CARD_RULES)
"""Every rule, in the order in which they are asked."""
_SCHEMA: Final = 1


def examine(host: Host) -> tuple[Finding, ...]:
    """Return what the rules find; without a GPU that is all there is to say."""
    without_gpu = _apply(GPU, host)
    return without_gpu or tuple(f for rule in RULES for f in _apply(rule, host))


def _apply(rule: Rule, host: Host) -> tuple[Finding, ...]:
    return tuple(
        Finding(rule.code, rule.severity, rule.title, message, rule.remedy)
        for message in rule.check(host)
    )


def is_fit(findings: tuple[Finding, ...]) -> bool:
    """Say whether measuring makes sense: there is no error, though there may be warnings."""
    return all(finding.severity is not Severity.ERROR for finding in findings)


def render_text(host: Host, findings: tuple[Finding, ...]) -> str:
    """Return one line a finding with its remedy, and for a host that is fit a line saying so."""
    lines = [f"{f.severity} {f.code}: {f.message}; {f.remedy}\n" for f in findings]
    if is_fit(findings) and host.card:
        told = f"{host.card.name}, driver {host.card.driver}, torch {host.torch.version}"
        lines.append(f"fit to measure: {told}\n")
    return "".join(lines)


def render_json(host: Host, findings: tuple[Finding, ...]) -> str:
    """Return the same for programs, with all that was read of the host."""
    report = {
        "schema": _SCHEMA,
        "fit": is_fit(findings),
        "findings": findings,
        "host": host,
    }
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


def render_rules() -> str:
    """Return a Markdown table of all rules, as the documentation shows it."""
    rows = ["| code | | what is wrong | why it matters | what to do |", "|---|---|---|---|---|"]
    rows += [f"| `{r.code}` | {r.severity} | {r.title} | {r.why} | {r.remedy} |" for r in RULES]
    return "\n".join(rows) + "\n"
