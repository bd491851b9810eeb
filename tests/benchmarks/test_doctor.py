"""Rules of the doctor, on made-up hosts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import cli
from benchmarks.doctor.examination import RULES, examine, is_fit, render_rules
from benchmarks.doctor.rule import Severity
from benchmarks.doctor.snapshot import Host, Process, StackNeeds, Torch
from tests.benchmarks.hosts import FIT, NO_GPU, with_card

PAGE = Path(__file__).parents[2] / "regress" / "docs" / "hosts.md"

UNFIT: dict[str, tuple[Host, str]] = {
    "gpu": (NO_GPU, "neither the driver nor torch shows an NVIDIA GPU"),
    "python": (replace(FIT, python=(3, 14)), "this is Python 3.14"),
    "nvml": (
        replace(FIT, card=None, nvml_problem="pynvml cannot be imported"),
        "pynvml cannot be imported",
    ),
    "torch": (replace(FIT, torch=Torch("2.11.0+cpu")), "torch 2.11.0+cpu is built without CUDA"),
    "driver": (
        replace(with_card(driver="550.90.07", driver_cuda=12), torch=Torch("2.11.0", "13.0")),
        "driver 550.90.07 runs CUDA up to 12, torch 2.11.0 is built for CUDA 13.0",
    ),
    "torch-blind": (
        replace(FIT, torch=Torch("2.11.0", "13.0")),
        "torch 2.11.0 sees no GPU, though one is there",
    ),
    "stack-cuda": (
        replace(FIT, stacks=(StackNeeds("v1", {"fa3-fwd": "12"}),)),
        "v1 pins fa3-fwd with GPU code for CUDA 12, torch is built for CUDA 13.0",
    ),
    "nvcc": (replace(FIT, nvcc=""), "no nvcc on PATH"),
    "nvcc-cuda": (
        replace(FIT, nvcc="12.8.61"),
        "nvcc is 12.8.61, torch is built for CUDA 13.0",
    ),
    "ninja": (replace(FIT, has_ninja=False), "no ninja on PATH"),
    "wheels": (
        replace(FIT, wheels="/w", wheel_count=2, stacks=(StackNeeds("v1", {}, ("fa3-fwd 1",)),)),
        "/w lacks fa3-fwd 1 of v1",
    ),
    "disk": (replace(FIT, free_bytes=1 << 30), "1.0 GiB are free at /data"),
    "old-gpu": (with_card(capability=(7, 5)), "NVIDIA H200 has compute capability 7.5"),
    "not-hopper": (with_card(capability=(8, 0)), "NVIDIA H200 has compute capability 8.0"),
    "mig": (with_card(mig=True), "NVIDIA H200 is in MIG mode"),
    "busy": (
        with_card(processes=(Process(7, "python"), Process(9)), busy_percent=90),
        "on the GPU: python (7), a process (9)",
    ),
    "hidden-load": (with_card(busy_percent=40), "the GPU is 40 % busy, and no process is seen"),
    "slowdown": (
        with_card(throttle=0x48),
        "clocks are held back now by: hardware slowdown, hardware thermal slowdown",
    ),
    "held-back": (with_card(throttle=0x4), "clocks are held back now by: power cap"),
    "power-cap": (
        with_card(power_cap_w=500.0),
        "the power cap is 500 W, the default is 700 W",
    ),
    "clocks-set": (
        with_card(set_mhz=1500, throttle=0x2),
        "the SM clock is set to 1500 MHz, the default is 1980",
    ),
    "persistence": (with_card(persistence=False), "persistence mode is off"),
    "ecc": (
        with_card(ecc_errors=3),
        "3 uncorrected memory errors since the driver was loaded",
    ),
    "repair": (
        with_card(repair=True),
        "rows of GPU memory wait for repair or could not be repaired",
    ),
    "xid": (with_card(xids=(13, 79)), "the kernel's log has Xid 79 of this GPU"),
    "unread": (
        with_card(unread=("MIG", "load")),
        "not checked, as this host does not tell: MIG, load",
    ),
}
"""For each rule a host on which it is the only one to find something, and what it says."""


def test_every_rule_has_an_example() -> None:
    """No rule stands untested, and no two share a code."""
    assert list(UNFIT) == [rule.code for rule in RULES]


def test_a_fit_host_has_no_findings() -> None:
    """No rule fires on a good host, so that each example below is its own rule's doing."""
    assert examine(FIT) == ()


@pytest.mark.parametrize("code", UNFIT)
def test_a_rule_finds_its_fault_alone(code: str) -> None:
    """Each fault is one finding of one rule, with the host's own figures."""
    host, told = UNFIT[code]
    assert [(f.code, f.message) for f in examine(host)] == [(code, told)]


@pytest.mark.parametrize(
    "host",
    [
        with_card(throttle=None, power_cap_w=None, set_mhz=None, mig=None, persistence=None),
        with_card(ecc_errors=None, repair=None, xids=None, used_bytes=None, busy_percent=None),
        with_card(capability=None, driver_cuda=None),
        with_card(xids=(13, 31, 43)),
        with_card(power_cap_w=750.0),
        replace(FIT, compiles=False, nvcc="", has_ninja=False),
        replace(FIT, compiles=False, nvcc="12.8.61"),
        replace(FIT, python=(3, 11)),
        replace(FIT, python=(3, 13)),
        replace(FIT, wheels="/w", wheel_count=1, stacks=(StackNeeds("v1", {"fa3-fwd": "13"}),)),
    ],
)
def test_what_is_well_or_unknown_is_no_finding(host: Host) -> None:
    """Facts that nobody tells are no faults, nor are a compiler or wheels that nobody needs."""
    assert examine(host) == ()


def test_a_torch_that_is_missing_is_one_finding() -> None:
    """What torch alone would tell is not asked for a second time."""
    (found,) = examine(replace(FIT, torch=Torch(problem="torch is not installed")))
    assert (found.code, found.message) == ("torch", "torch is not installed")


def test_memory_in_use_by_nobody_is_a_hidden_load() -> None:
    """A process of another container shows by its memory alone."""
    (found,) = examine(with_card(used_bytes=80 << 30))
    assert (found.code, found.message) == (
        "hidden-load",
        "80.0 GiB are in use, and no process is seen",
    )


def test_many_processes_stay_one_line() -> None:
    """Five are named, the others are counted."""
    (found,) = examine(with_card(processes=tuple(Process(n, "x") for n in range(1, 8))))
    assert found.message == "on the GPU: x (1), x (2), x (3), x (4), x (5) and 2 more"


def test_clocks_held_by_a_setting_are_found_by_their_reason() -> None:
    """Locked clocks have no reading of their own; the reason for the clocks tells."""
    (found,) = examine(with_card(throttle=0x2))
    assert (found.code, found.message) == ("clocks-set", "the clocks are held by a setting")


def test_an_empty_folder_of_wheels_is_one_finding() -> None:
    """Nothing is listed as missing from a folder that holds nothing."""
    needs = (StackNeeds("v1", {}, ("fa3-fwd 1",)),)
    (found,) = examine(replace(FIT, wheels="/w", stacks=needs))
    assert found.message == "there are no wheels in /w"


def test_warnings_leave_a_host_fit() -> None:
    """Only errors make results worthless."""
    assert {rule.code: is_fit(examine(UNFIT[rule.code][0])) for rule in RULES} == {
        rule.code: rule.severity is Severity.WARNING for rule in RULES
    }


def answer(
    host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str]:
    """Return the exit code and the output of `doctor` on a made-up host."""
    monkeypatch.setattr("benchmarks.doctor_command.load_host", lambda *_: host)
    code = cli.main(["doctor", *words])
    out, err = capsys.readouterr()
    assert err == ""
    return code, out


@pytest.mark.parametrize(
    ("host", "code", "told"),
    [
        (
            NO_GPU,
            1,
            (
                "error gpu: neither the driver nor torch shows an NVIDIA GPU; run on a host "
                "with an NVIDIA GPU and its driver; in a container, pass the GPU through\n"
            ),
        ),
        (
            UNFIT["busy"][0],
            1,
            (
                "error busy: on the GPU: python (7), a process (9); end it, wait for it, or choose "
                "another GPU by CUDA_VISIBLE_DEVICES\n"
            ),
        ),
        (
            UNFIT["nvcc"][0],
            1,
            (
                "error nvcc: no nvcc on PATH; install the CUDA toolkit and put nvcc on PATH, or "
                "prebuild modules and name them by --modules or ATTN_MODULES\n"
            ),
        ),
        (
            UNFIT["persistence"][0],
            0,
            (
                "warning persistence: persistence mode is off; `nvidia-smi -pm 1`, or run "
                "nvidia-persistenced\n"
                "fit to measure: NVIDIA H200, driver 580.65.06, torch 2.11.0\n"
            ),
        ),
        (FIT, 0, "fit to measure: NVIDIA H200, driver 580.65.06, torch 2.11.0\n"),
    ],
    ids=["no-gpu", "busy", "no-nvcc", "warning", "fit"],
)
def test_the_command_has_a_line_a_finding(
    host: Host,
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line with its remedy, exit 1 for an error, 0 for warnings."""
    assert answer(host, monkeypatch, capsys) == (code, told)


def test_json_holds_findings_and_facts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program gets the same exit code, the verdict, findings and what was read as numbers."""
    code, out = answer(UNFIT["power-cap"][0], monkeypatch, capsys, "--format", "json")
    report = json.loads(out)
    assert (code, report["fit"], report["schema"]) == (0, True, 1)
    assert [f["code"] for f in report["findings"]] == ["power-cap"]
    assert report["findings"][0]["severity"] == "warning"
    assert report["host"]["card"]["power_cap_w"] == 500.0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nosuch"], "nosuch"),
        (["--wheels", "/nosuch"], "there is no folder /nosuch"),
        (["--format", "xml"], "invalid choice"),
    ],
)
def test_wrong_usage_is_exit_2(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt stack, folder or format is not a host's fault."""
    try:
        code: object = cli.main(["doctor", *words])
    except SystemExit as caught:
        code = caught.code
    assert code == 2
    assert told in capsys.readouterr().err


def test_the_page_shows_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of the documentation is what `doctor --rules` prints."""
    assert cli.main(["doctor", "--rules"]) == 0
    assert capsys.readouterr().out == render_rules()
    assert f"\n{render_rules()}\n" in PAGE.read_text(encoding="utf-8")
