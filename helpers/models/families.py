"""Instructions from the model cards of families whose files do not contain them."""

import re

# Pattern of a model's name without its owner -> instruction for a query, instruction for a passage.
FAMILIES = {
    r"bge-(?:small|base|large)-en(?:-v1\.5)?": ("Represent this sentence for searching relevant passages: ", ""),
    r"bge-(?:small|base|large)-zh(?:-v1\.5)?": ("为这个句子生成表示以用于检索相关文章：", ""),
    r"(?:multilingual-)?e5-(?:small|base|large)(?:-v2|-unsupervised)?(?:-4bit)?": ("query: ", "passage: "),
}


def family_instructions(name: str) -> tuple[str, str]:
    """Return the instructions of a model's family for a query and a passage; empty strings if there are none."""
    last = name.split("/")[-1]
    for pattern, instructions in FAMILIES.items():
        if re.fullmatch(pattern, last, re.IGNORECASE):
            return instructions
    return "", ""
