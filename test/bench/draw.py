"""Draws cost.svg: CPU per change, latency and memory against number, size and rate. Both axes are logarithmic."""
import math

from life import RATES

COLOURS = {'informerd': '#0b7a75', 'informerd plain': '#d4a017', 'informerd latency 0': '#2f6690', 'floor': '#999999',
           'library': '#7fb7b3', 'library compact': '#9bc53d', 'client-go typed': '#c8553d', 'client-go dynamic': '#e0a899', 'kube-rs': '#6c5b9e'}
NUMBERS = (('1k pods', 1000), ('10k pods', 10_000), ('100k pods', 100_000))
SIZES = (('1 KB pods', 1000), ('10k pods', 11_700), ('200 KB pods', 200_000))
DEPLOYED = (('10k pods of 200 deployments', 10_000), ('100k pods of 200 deployments', 100_000),
            ('1M pods of 200 deployments', 1_000_000))


def of(figure, cases):
    """The points of a panel: (case, figure, x)."""
    return tuple((case, figure, x) for case, x in cases)


def at_rates(figure):
    return tuple(('steady pace', f'rate{rate}_{figure}', rate) for rate in RATES)


PANELS = (  # title, unit, x axis, and the points; in rows of three
    ('CPU per change, µs', 1e-6, 'pods in the cache', of('event_cpu', NUMBERS)),
    ('CPU per change, µs', 1e-6, 'bytes of a pod', of('event_cpu', SIZES)),
    ('CPU per change, µs', 1e-6, 'changes per second', at_rates('cpu')),
    ('latency p99, ms', 1e-3, 'changes per second', at_rates('p99')),
    ('steady memory, MB', 1e6, 'pods in the cache', of('steady', NUMBERS)),
    ('bytes per pod of 200 deployments', 1, 'pods in the cache', of('per_pod', DEPLOYED)),
)
COLUMNS = 3
WIDTH, HEIGHT, LEFT, TOP, GAP, ROW_GAP, RIGHT = 250, 240, 62, 86, 96, 96, 40
NAMES, NAME_WIDTH, NAME_HEIGHT = 5, 190, 22  # in a row of the legend
STYLE = ('text{font:13px sans-serif;fill:#444} .title{font-weight:600;fill:#222} .grid{stroke:#ddd} '
         '.line{fill:none;stroke-width:2.5}')


def short(value):
    for size, letter in ((1e6, 'M'), (1e3, 'k')):
        if value >= size:
            return f'{value / size:g}{letter}'
    return f'{value:g}'


class Axis:
    """A logarithmic axis of whole decades."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(self.low + 1, math.ceil(math.log10(max(values))))
        self.start, self.end = start, end

    def place(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        return [10 ** n for n in range(self.low, self.high + 1)]


def lines_of(results, one, points):
    """{client: [(x, y)]}, for clients that were measured at two points or more."""
    cases, lines = results['cases'], {}
    for client in COLOURS:
        measured = [(x, cases.get(case, {}).get(client, {}).get(figure)) for case, figure, x in points]
        line = [(x, value / one) for x, value in measured if value is not None]
        if len(line) > 1:
            lines[client] = line
    return lines


def panel(results, left, top, title, one, below, points):
    lines = lines_of(results, one, points)
    if not lines:
        return
    x = Axis([px for line in lines.values() for px, _ in line], left, left + WIDTH)
    y = Axis([py for line in lines.values() for _, py in line], top + HEIGHT, top)
    yield f'<text class="title" x="{left}" y="{top - 14}">{title}</text>'
    yield f'<text x="{left + WIDTH / 2}" y="{top + HEIGHT + 40}" text-anchor="middle">{below}</text>'
    for tick in y.ticks():
        yield f'<path class="grid" d="M{left} {y.place(tick):.1f}h{WIDTH}"/>'
        yield f'<text x="{left - 8}" y="{y.place(tick) + 4:.1f}" text-anchor="end">{short(tick)}</text>'
    for tick in x.ticks():
        yield f'<path class="grid" d="M{x.place(tick):.1f} {top}v{HEIGHT}"/>'
        yield f'<text x="{x.place(tick):.1f}" y="{top + HEIGHT + 18}" text-anchor="middle">{short(tick)}</text>'
    for client, line in lines.items():
        places, colour = [(x.place(px), y.place(py)) for px, py in line], COLOURS[client]
        yield f'<path class="line" stroke="{colour}" d="M{"L".join(f"{px:.1f} {py:.1f}" for px, py in places)}"/>'
        yield from (f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{colour}"/>' for px, py in places)


def legend(clients):
    for i, client in enumerate(clients):
        x, y = LEFT + i % NAMES * NAME_WIDTH, 20 + i // NAMES * NAME_HEIGHT
        yield f'<path class="line" stroke="{COLOURS[client]}" d="M{x} {y}h22"/>'
        yield f'<text x="{x + 28}" y="{y + 4}">{client}</text>'


def cost(results, path):
    """Draws only what was measured; without any panel no file is written."""
    rows = -(-len(PANELS) // COLUMNS)
    panels = [list(panel(results, LEFT + i % COLUMNS * (WIDTH + GAP), TOP + i // COLUMNS * (HEIGHT + ROW_GAP), *each))
              for i, each in enumerate(PANELS)]
    if not any(panels):
        return
    width = LEFT + COLUMNS * (WIDTH + GAP) - GAP + RIGHT
    height = TOP + rows * (HEIGHT + ROW_GAP) - ROW_GAP + 54
    known = [client for client in COLOURS if any(client in clients for clients in results['cases'].values())]
    body = '\n'.join([*legend(known), *(line for lines in panels for line in lines)])
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n'
                    f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')
    print(f'drawn: {path}')
