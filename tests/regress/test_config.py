"""The configuration."""

from pathlib import Path

import pytest

from regress.config import load_config, parse_config
from regress.errors import UsageError
from regress.report.settings import render_settings


def test_printed_configuration_reads_back() -> None:
    """What `config` prints is a configuration file with the same meaning."""
    default = load_config()
    assert parse_config(render_settings(default), "printed") == default


def test_a_file_overrides_single_keys(tmp_path: Path) -> None:
    """Keys of the file win, all others keep their defaults."""
    path = tmp_path / "c.toml"
    path.write_text("version = 1\n[kernel_time]\nmin_rounds = 7\n")
    config = load_config(path)
    assert config.kernel_time.min_rounds == 7
    assert config.plan_time == load_config().plan_time


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version = 1\n[kernel_time]\nalhpa = 0.1\n", "unknown field `alhpa`"),
        ("version = 1\n[surprise]\nx = 1\n", "unknown field `surprise`"),
        ("version = 1\n[kernel_time]\nalpha = 0.7\n", "alpha"),
        ("version = 1\n[kernel_time]\nmin_rounds = 'x'\n", "min_rounds"),
        ("version = 2\n", "needs `version = 1`, has 2"),
        ("[kernel_time]\nalpha = 0.01\n", "needs `version = 1`, has none"),
        ("version = ", "is no TOML"),
        ("x = " + "[" * 5000, "is no TOML"),
        ("version = 1\n[kernel_time.floor]\nminimum = inf\n", "kernel_time.floor.minimum is not"),
        ("version = 1\n[noise]\nblind_above = [0.1, nan]\n", "noise.blind_above is not finite"),
    ],
)
def test_bad_configuration_is_one_line(text: str, told: str) -> None:
    """Unknown keys, wrong values, other versions and broken TOML are named in one line."""
    with pytest.raises(UsageError, match=told) as error:
        parse_config(text, "c.toml")
    assert "\n" not in str(error.value)
    assert "c.toml" in str(error.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A configuration that does not exist is an error, not the defaults."""
    with pytest.raises(UsageError, match="cannot read the configuration"):
        load_config(tmp_path / "none.toml")
