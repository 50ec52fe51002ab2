"""What a notebook shows: of records the page of their review, of one record, sweeps, choices and diagnoses tables.

The charts take the colour of the text, so that they are seen on light and on dark pages. Whatever a drive is called is text.
"""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Sequence

from ._native import Choice, Diagnosis, Drive, Finding, Record, Run, to_html

#: Size of a chart, and how many points one has at most: what is drawn narrower than a pixel cannot be told apart.
WIDTH, HEIGHT = 160, 28
#: Height of a page that is shown, which is scrolled.
FRAME_HEIGHT = 640
#: Rows of a sweep that are shown.
MOST_ROWS = 20


class Records(list):
    """Records of a review or a file: a list, which a notebook shows as the page of a review, with its charts."""

    def _repr_html_(self) -> str:
        return frame(self.to_html())

    def to_html(self) -> str:
        """The page that `fourcorners review --out` writes: one HTML document that asks nothing of a network."""
        return to_html(self)


def frame(page: str) -> str:
    """A whole page within another one, whose styles and scripts it does not touch."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="drive review" loading="lazy" '
        f'style="width:100%;height:{FRAME_HEIGHT}px;border:1px solid currentColor"></iframe>'
    )


def record(of: Record) -> str:
    """A record as a table: a row for each figure, with the course of its seconds."""
    rows = []
    for name, figure in of.figures.items():
        latency = figure.latency_us
        series = of.series.get(name)
        rows.append(
            [
                name,
                number(figure.mb_per_s),
                number(figure.iops),
                number(latency.mean),
                number(latency.p99),
                number(latency.max),
                Html(chart(series.iops) if series is not None else ""),
            ]
        )
    head = ["figure", "MB/s", "IOPS", "mean us", "99 % us", "max us", "IOPS by the second, from 0"]
    ended = "" if of.failure is None else f" ({escape(of.failure)})"
    title = f"<p><b>{escape(of.target.title)}</b>, {escape(of.method)}, {escape(of.clock)} time{ended}</p>"
    notes = "".join(f"<p>{escape(note.text)}</p>" for note in of.notes)
    return title + (table(head, rows) if rows else "") + notes


def drive(of: Drive) -> str:
    """A drive: what it is, and each value of its model with how it is known, which a click opens."""
    gigabytes = of.capacity_bytes / 1e9
    spare = "" if of.spare == 0 else f", {100 * of.spare:g} % of it left as spare"
    title = f"<p><b>{escape(of.title)}</b>, {number(gigabytes)} GB, {escape(of.name)}{spare}</p>"
    if of.members:
        return title + "".join(f"<p>{escape(member.title)}</p>" for member in of.members)
    values = of.values
    rows = [[it["key"], plain(it["value"]), it["standing"], it["source"]] for it in values]
    listed = table(["value", "is", "standing", "source"], rows)
    return f"{title}<details><summary>{len(values)} values of its model</summary>{listed}</details>"


def plain(value: Any) -> str:
    """A value as a profile has it."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def run(of: Run) -> str:
    """A run of a job: its figures in a row, with the course of its seconds."""
    latency = of.latency_us
    row = [
        number(of.iops),
        number(of.mb_per_s),
        number(latency.mean),
        number(latency.p99),
        number(latency.max),
        number(of.write_amplification),
        number(of.duration_s),
        Html(chart(of.series.iops)),
    ]
    head = ["IOPS", "MB/s", "mean us", "99 % us", "max us", "write amplification", "seconds", "IOPS by the second, from 0"]
    short = "" if of.complete else "<p>It was cut short.</p>"
    return table(head, [row]) + short


def choice(of: Choice) -> str:
    """A choice: the answer in words, and a row for each drive with its band as a bar."""
    rows = of.to_pylist()
    known = [
        (head, key)
        for head, key in (
            ("hours a year saved", "hours_a_year_vs_have"),
            ("write amplification", "write_amplification"),
            ("years of flash", "years"),
            ("Wh", "energy_wh"),
            ("price x seconds", "price_per_performance"),
        )
        if any(row[key] is not None for row in rows)
    ]
    longest = max((row["band_high_s"] for row in rows), default=0.0)
    head = ["rank", "drive", "waits, s", "band, from 0", "tier", "p99, us", *(name for name, _ in known)]
    shown = [
        [
            row["rank"],
            row["title"] + (" *" if row["rescaled"] else "") + (" (yours)" if row["drive"] == of.have else ""),
            number(row["waited_s"]),
            Html(band(row["band_low_s"], row["waited_s"], row["band_high_s"], longest)),
            row["tier"],
            number(row["p99_us"]),
            *(number(row[key]) for _, key in known),
        ]
        for row in rows[:MOST_ROWS]
    ]
    more = f"<p>and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    left_out = "".join(f"<p>left out: {escape(it['drive'])}: {escape(it['why'])}</p>" for it in of.left_out)
    notes = "".join(f"<p>{escape(note)}</p>" for note in of.notes)
    title = f"<p><b>{escape(of.work['name'])}</b>, drives {escape(of.state)}: {escape(of.text)}</p>"
    return title + table(head, shown) + more + left_out + notes


def band(low: float, value: float, high: float, longest: float) -> str:
    """A time within its band, as a line on a scale from 0 to the longest."""
    if not longest > 0:
        return ""
    start, at, end = (x * WIDTH / longest for x in (low, value, high))
    return (
        f'<svg width="{WIDTH}" height="10" viewBox="-1 0 {WIDTH + 2} 10" role="img">'
        f"<title>{number(low)} to {number(high)} s</title>"
        f'<path d="M{start:.1f},5H{end:.1f}M{at:.1f},1V9" fill="none" stroke="currentColor"/></svg>'
    )


def diagnosis(of: Diagnosis) -> str:
    """A diagnosis: a row for each finding, with the reason."""
    head = ["property", "found", "interval", "standing", "why"]
    rows = []
    for finding in of.findings:
        interval = ""
        if finding.interval is not None and finding.interval[0] < finding.interval[1]:
            interval = f"{finding.interval[0]:g} to {finding.interval[1]:g}"
        rows.append([finding.key, found(finding), interval, finding.standing, finding.reason])
    return f"<p><b>{escape(of.target)}</b></p>" + table(head, rows)


def found(finding: Finding) -> str:
    """The value of a finding in words."""
    if finding.value is None:
        return "not known"
    value = finding.value if isinstance(finding.value, str) else f"{finding.value:g} {finding.unit or ''}".strip()
    return f"bound: {value}" if finding.standing == "bound" else value


class Html(str):
    """Text that is HTML already."""


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of texts."""
    line = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell if isinstance(cell, Html) else escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{line}</tr></thead><tbody>{body}</tbody></table>"


def chart(values: Any) -> str:
    """Values as a line from 0 to the highest, in SVG."""
    values = [float(value) for value in values]
    if len(values) < 2 or max(values) <= 0:
        return ""
    # The least and the highest of what shares a column, in the order they came in.
    a_column = max(1, -(-len(values) // WIDTH))
    shown: list[tuple[int, float]] = []
    for at in range(0, len(values), a_column):
        part = range(at, min(at + a_column, len(values)))
        ends = sorted({min(part, key=values.__getitem__), max(part, key=values.__getitem__)})
        shown += [(place, values[place]) for place in ends]
    most, last = max(values), len(values) - 1
    points = " ".join(f"{x * WIDTH / last:.1f},{HEIGHT - y * HEIGHT / most:.1f}" for x, y in shown)
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 -1 {WIDTH} {HEIGHT + 2}" role="img">'
        f"<title>{len(values)} seconds, up to {number(most)}</title>"
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )


def number(value: float | None) -> str:
    """A number with three digits, or all of those before the point."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def sweep(of: Any) -> str:
    """What came of a sweep: how many runs, and its first rows."""
    rows = of.to_pylist()
    axes = list(dict.fromkeys(axis for _, cell in of._cells for axis in cell))
    head = [*axes, "figure", "MB/s", "IOPS", "99 % us", "refused"]
    shown = [
        [
            *("" if row.get(axis) is None else row[axis] for axis in axes),
            row["figure"] or "",
            number(row.get("mb_per_s")),
            number(row.get("iops")),
            number(row.get("latency_p99_us")),
            row["error"] or "",
        ]
        for row in rows[:MOST_ROWS]
    ]
    more = f"<p>and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    told = f"<p>{of.total:,} runs, {of.known:,} of them known before</p>"
    return told + table(head, shown) + more
