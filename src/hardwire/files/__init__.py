"""Files: written whole or not at all (`write_whole`), and tensor files with a digest (`hardwire.files.tensors`)."""

from hardwire.files.whole import write_whole

__all__ = ["write_whole"]
