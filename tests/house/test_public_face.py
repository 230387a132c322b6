import subprocess
import sys

import pytest

import hardwire as hw


@pytest.mark.parametrize("name", hw.__all__)
def test_every_public_name_is_there(name):
    assert getattr(hw, name) is not None
    assert name in dir(hw)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hw.nothing


def test_importing_hardwire_and_its_torch_free_rooms_does_not_import_torch():
    code = "import sys, hardwire; hardwire.GATES, hardwire.Encoder; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
