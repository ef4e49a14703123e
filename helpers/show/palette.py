"""The colours of every figure, by the names under which a page sets them: the one place where they are chosen."""

# Okabe and Ito's colours, told apart by readers with any colour vision.
COLOURS = {
    "blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7", "orange": "#E69F00",
    "sky": "#56B4E9", "ink": "#000000",
}  # fmt: skip
GREYS = {"ground": "#ffffff", "quiet": "#555555", "grid": "#dddddd", "box": "#e8e8e8"}
