"""The colours of every figure, by the names under which a page sets them: the one place where they are chosen."""

# Okabe and Ito's colours, told apart by readers with any colour vision.
COLOURS = {
    "blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7", "orange": "#E69F00",
    "sky": "#56B4E9", "ink": "#000000",
}  # fmt: skip
GREYS = {"ground": "#ffffff", "quiet": "#555555", "grid": "#dddddd", "box": "#e8e8e8"}
# The same on a dark ground, as the site and the report show them to readers who prefer it.
DARK = {
    "blue": "#5cb1f0", "vermilion": "#ff9257", "green": "#35c99c", "purple": "#e6a1cb", "orange": "#f0b73c",
    "sky": "#28648c", "ink": "#e6edf3", "ground": "#14181c", "quiet": "#c9d1d9", "grid": "#333c46", "box": "#39424c",
}  # fmt: skip
