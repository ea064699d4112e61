"""What a page written with -o FILE.html shows: its document is packed into it."""

import base64
import gzip
import re


def shown_on(path):
    """The text of everything that is packed into a page (base64 of gzip)."""
    packed = re.findall(r">(H4sI[A-Za-z0-9+/=]+)<", path.read_text())
    return "".join(gzip.decompress(base64.b64decode(one)).decode() for one in packed)
