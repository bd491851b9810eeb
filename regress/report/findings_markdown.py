"""The findings of a history that most readers want, as a Markdown list."""

from regress.counted import bounded
from regress.model.finding import Metric
from regress.model.history import History
from regress.report.history_stories import Story, headline_of, stories_of
from regress.report.markdown import escaped, literal

__all__ = ["render_controls", "render_top_findings", "top_stories"]

_SHOWN = 3


def render_top_findings(told: History) -> str:
    """Return the findings that reach furthest, each with its cause and what became of it."""
    newest = told.releases[-1].stack if told.releases else ""
    lines = [_line(story, newest) for story in top_stories(told)]
    return "\n".join(lines or ("Nothing was shown to change.",)) + "\n"


def top_stories(told: History, number: int = _SHOWN) -> tuple[Story, ...]:
    """Return the changes of kernel time that reach furthest.

    First what is still worse, but for the last place: that is of the furthest of all others.
    """
    kernel = [f for f in told.findings if f.metric is Metric.KERNEL_TIME and f.size is not None]
    stories = sorted(stories_of(told, kernel), key=lambda story: -story.reach)
    worse = [story for story in stories if story.worse and story.lead.standing][: number - 1]
    others = [story for story in stories if story not in worse]
    return (*worse, *others)[:number]


def _line(story: Story, newest: str) -> str:
    lead = story.lead
    where = f"**{literal(lead.first_bad)}** (after {literal(lead.last_good)})"
    told = [f"{escaped(story.reason.rstrip('.'))} ({escaped(', '.join(story.families))})."]
    if story.notes:
        why = " and ".join(f"[{escaped(note.title)}]({note.path})" for note in story.notes)
        told.append(f"Why: {why}.")
    elif lead.cause.explained:
        told.append(_sentence(headline_of(lead)))
    return f"- {where}: {' '.join(told)}{_ending(story, newest)}"


def _sentence(text: str) -> str:
    return escaped(f"{text[:1].upper()}{text[1:].rstrip('.')}") + "."


def _ending(story: Story, newest: str) -> str:
    if story.lead.recovered_by:
        return f" Taken back by {literal(story.lead.recovered_by)}."
    return f" Still so in {literal(newest)}." if story.worse else ""


def render_controls(told: History) -> str:
    """Return the measured false-alarm rate as a sentence."""
    group = told.controls
    if not group.cells:
        return "No two releases ran identical kernels: the false-alarm rate is not measured.\n"
    most = f", at most {bounded(group.upper_rate)} (95 %)" if group.upper_rate is not None else ""
    return (
        f"{group.alarms} of {group.cells} comparisons of identical kernels in consecutive releases "
        f"called a change{most}.\n"
    )
