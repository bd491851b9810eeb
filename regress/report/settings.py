"""The configuration as TOML and as a table."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import tomlkit

from regress.config import Config

__all__ = ["render_settings", "render_thresholds"]


def render_settings(config: Config) -> str:
    """Return the configuration as TOML that `--config` accepts."""
    return tomlkit.dumps(msgspec.to_builtins(config))


def render_thresholds(config: Config) -> str:
    """Return the configuration as a Markdown table, one threshold a row."""
    rows = (f"| `{name}` | {_shown(value)} |" for name, value in _flat(msgspec.to_builtins(config)))
    return "\n".join(("| setting | value |", "|---|---|", *rows)) + "\n"


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"
