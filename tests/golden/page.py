"""The content of a page written with -o FILE.html, which is packed into it."""

import base64
import gzip
import re


def shown_on(path):
    """The text of all elements packed into a page (base64 of gzip)."""
    packed = re.findall(r">(H4sI[A-Za-z0-9+/=]+)<", path.read_text())
    return "".join(gzip.decompress(base64.b64decode(one)).decode() for one in packed)
