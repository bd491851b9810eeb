"""The table of GPUs, and GPUs given by numbers."""

import pytest

from workloads.devices import DEVICES, Device, parse_device


def test_names_are_unique_and_every_device_has_a_source() -> None:
    """A number without a source is not to be trusted."""
    assert len({d.name for d in DEVICES}) == len(DEVICES)
    assert all(d.source and d.name == d.name.lower() for d in DEVICES)


@pytest.mark.parametrize("device", DEVICES, ids=lambda d: d.name)
def test_every_device_is_found_by_its_name(device: Device) -> None:
    """In any case, and with the vendor's name before it."""
    assert parse_device(device.name) is device
    assert parse_device(f"NVIDIA {device.name.upper()}") is device


@pytest.mark.parametrize(
    ("text", "name"), [("h100", "h100-sxm"), ("A100", "a100-80gb"), ("rtx 4090", "rtx-4090")]
)
def test_short_names_mean_the_common_card(text: str, name: str) -> None:
    """`h100` is the SXM card, `a100` the one with 80 GB."""
    assert parse_device(text).name == name


def test_a_device_can_be_given_by_numbers() -> None:
    """SMs, bytes a second and bytes of L2; Hopper unless said."""
    device = parse_device("sms=78, bandwidth=4.0e12,l2=60e6")
    assert (device.sms, device.bandwidth, device.l2_bytes) == (78, 4.0e12, 60_000_000)
    assert device.hopper
    other = parse_device("sms=108,bandwidth=2e12,l2=4e7,capability=8.0")
    assert other.capability == (8, 0)
    assert not other.hopper


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h300", "unknown device 'h300': use h200,.*numbers"),
        ("", "unknown device ''"),
        ("sms=78", "wants sms, bandwidth, l2 once each"),
        ("sms=78,sms=78,bandwidth=1e12,l2=1e6", "once each"),
        ("sms=78,bandwidth=1e12,l2=1e6,clock=2", "once each"),
        ("sms=7.5,bandwidth=1e12,l2=1e6", "sms must be a whole number, not '7.5'"),
        ("sms=x,bandwidth=1e12,l2=1e6", "sms must be a whole number, not 'x'"),
        ("sms=78,bandwidth=nan,l2=1e6", "bandwidth must be a number, not 'nan'"),
        ("sms=78,bandwidth=-1,l2=1e6", "bandwidth must be a number from 1, not -1"),
        ("sms=0,bandwidth=1e12,l2=1e6", "sms must be a number from 1, not 0"),
        ("sms=1e8,bandwidth=1e12,l2=1e6", "at most 4,096 SMs, not 100,000,000"),
        ("sms=78,bandwidth=1e12,l2=0.5", "l2_bytes must be a number from 1, not 0"),
        ("sms=78,bandwidth=1e12,l2=1e6,capability=9", "capability looks like 9.0, not '9'"),
    ],
)
def test_bad_devices_get_one_clear_line(text: str, message: str) -> None:
    """What is wrong and what is wanted."""
    with pytest.raises(ValueError, match=message):
        parse_device(text)
