"""Files: written whole or not at all (`write_whole`, `write_together`), arrays with a digest, careful JSON."""

from hardwire.files.parse import parse_json
from hardwire.files.whole import write_together, write_whole

__all__ = ["parse_json", "write_together", "write_whole"]
