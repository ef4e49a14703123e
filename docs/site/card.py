"""Draw the picture that a shared link shows, one a language: `python -m docs.site.card`.

Needs playwright and chromium. A build copies the pictures as they are.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from docs.site.project import site_words

NAMES = {"en": "Retrieval evaluation", "zh": "检索评估教程"}
HITS = {"A": "1111100000", "B": "1100010000", "C": "0110100000"}  # where lesson 02's relevant documents stand
PAGE = """<!doctype html><html lang="{code}"><meta charset="utf-8"><style>
body {{ margin: 0; width: 1200px; height: 630px; background: #0b2236; color: #fff }}
body {{ font-family: "Noto Sans", "Noto Sans CJK SC", sans-serif }}
main {{ padding: 84px 90px }}
h1 {{ margin: 0; font-size: 84px; font-weight: 700 }}
p {{ margin: 18px 0 60px; font-size: 38px; color: #b4dcf8 }}
div {{ display: flex; align-items: center; gap: 14px; margin: 14px 0; font-size: 34px }}
b {{ width: 44px }}
i {{ width: 64px; height: 64px; border: 3px solid #7cc4f5; border-radius: 12px; box-sizing: border-box }}
i.hit {{ background: #7cc4f5 }}
</style><main><h1>{name}</h1><p>{tagline}</p>{rows}</main>"""


def main() -> None:
    """Write docs/site/_root/card-en.png and card-zh.png."""
    from playwright.sync_api import sync_playwright

    boxes = {name: "".join(f"<i{' class=hit' * (hit == '1')}></i>" for hit in hits) for name, hits in HITS.items()}
    rows = "".join(f"<div><b>{name}</b>{row}</div>" for name, row in boxes.items())
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 630})
        for code, name in NAMES.items():
            page.set_content(PAGE.format(code=code, name=name, tagline=site_words(code)["tagline"], rows=rows))
            page.screenshot(path=str(Path(__file__).parent / "_root" / f"card-{code}.png"))
        browser.close()


if __name__ == "__main__":
    main()
