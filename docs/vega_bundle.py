"""The scripts that draw the charts of the HTML report: ``python docs/vega_bundle.py`` writes them.

They are Vega, Vega-Lite and Vega-Embed as vl-convert-python bundles them. Making the bundle takes
seconds and 130 MB, so the report has a copy of it.
"""

from __future__ import annotations

from pathlib import Path

import vl_convert

FILE = Path(__file__).parent.parent / "pytest_rankcheck" / "reports" / "html" / "vega.js"

_NOTICE = """/*! Vega {vega}, Vega-Lite {lite}, Vega-Embed {embed}, of vl-convert-python {convert}.
Written by docs/vega_bundle.py.
Copyright (c) 2015-2023, University of Washington Interactive Data Lab. All rights reserved.
BSD 3-Clause: https://github.com/vega/vega/blob/main/LICENSE
Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met: 1. Redistributions of source code must retain the
above copyright notice, this list of conditions and the following disclaimer. 2. Redistributions in
binary form must reproduce the above copyright notice, this list of conditions and the following
disclaimer in the documentation and/or other materials provided with the distribution. 3. Neither
the name of the copyright holder nor the names of its contributors may be used to endorse or promote
products derived from this software without specific prior written permission.
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER
IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF
THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
Includes D3, copyright Mike Bostock, ISC: https://github.com/d3/d3/blob/main/LICENSE */
"""


def bundle() -> str:
    """Return the scripts as one, which can stand in a script element."""
    code: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub is wrong
    notice = _NOTICE.format(
        vega=vl_convert.get_vega_version(),
        lite=vl_convert.get_vegalite_versions()[-1],
        embed=vl_convert.get_vega_embed_version(),
        convert=vl_convert.__version__,
    )
    return notice + code.replace("</script", "<\\/script").replace("<!--", "<\\!--").rstrip() + "\n"


if __name__ == "__main__":
    FILE.write_text(bundle(), "utf-8", newline="\n")
