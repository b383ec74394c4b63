"""Figures in columns, wide or narrow terminal alike."""

from collections.abc import Sequence


def show(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """The first column is text, all others stand to the right. A float shows one digit."""
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(columns))]
    for row in cells:
        first, *others = zip(row, widths, strict=True)
        print("  ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]).rstrip())


def _cell(value: object) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
