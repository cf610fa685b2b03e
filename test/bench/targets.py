"""The targets, compared with the measurements."""

class Share(float):
    """A target that is a fraction of the figure of another client; shown as 1/20."""


BEST, PLAIN, PROMPT, OTHER, RUST, FLOOR = ('informerd', 'informerd plain', 'informerd latency 0', 'client-go typed', 'kube-rs',
                                           'floor')
PACE, STATE, START, LIBRARY = 'steady pace', 'state on disk', 'state on disk, start', 'library compact'


def share(figure, case, wanted, than=OTHER):
    """The figure of informerd must be at most `wanted` times that of another client."""
    return lambda at: (at(case, BEST, figure) / at(case, than, figure), wanted)


def growth(figure, few, many, wanted):
    return lambda at: (at(many, BEST, figure) / at(few, BEST, figure), wanted)


def peak(figure, case):
    return lambda at: (at(case, BEST, figure) / at(case, BEST, 'steady'), 1.10)


def each_pod(at, client):
    """Bytes of one additional pod."""
    return (at('100k pods', client, 'steady') - at('1k pods', client, 'steady')) / 99_000


TARGETS = (
    ('CPU per change, of client-go typed', share('event_cpu', '10k pods', Share(1 / 20))),
    ('CPU per change, microseconds', lambda at: (at('10k pods', BEST, 'event_cpu') * 1e6, 70)),
    ('the same with a plain cache', lambda at: (at('10k pods', PLAIN, 'event_cpu') * 1e6, 45)),
    ('CPU of the first sync, of client-go typed', share('sync_cpu', '10k pods', Share(1 / 20))),
    ('CPU per change at 100/s, of the floor', share('rate100_cpu', PACE, 1.3, FLOOR)),
    ('CPU per change at 300/s, of the floor', share('rate300_cpu', PACE, 1.3, FLOOR)),
    ('CPU per change at 1,000/s, of the floor', share('rate1000_cpu', PACE, 1, FLOOR)),
    ('latency p99 with latency 0, of client-go typed',
     lambda at: (at(PACE, PROMPT, 'rate1000_p99') / at(PACE, OTHER, 'rate1000_p99'), Share(1 / 10))),
    ('latency p99 with latency 0, milliseconds', lambda at: (at(PACE, PROMPT, 'rate1000_p99') * 1e3, 1)),
    ('latency p99, milliseconds', lambda at: (at(PACE, BEST, 'rate1000_p99') * 1e3, 10)),
    ('memory per pod, bytes', lambda at: (at('100k pods of 200 deployments', BEST, 'per_pod'), 1300)),
    ('memory per pod, of client-go typed', lambda at: (each_pod(at, BEST) / each_pod(at, OTHER), Share(1 / 20))),
    ('memory per pod of a plain cache, of its text', lambda at: (each_pod(at, PLAIN) / at.text, 1.05)),
    ('peak memory in first sync, of steady', peak('sync_peak', '100k pods, relists')),
    ('peak memory in unchanged relist, of steady', peak('relist_peak', '100k pods, relists')),
    ('CPU per change, of kube-rs', share('event_cpu', '10k pods', Share(1 / 2), RUST)),
    ('memory per pod, of kube-rs', lambda at: (each_pod(at, BEST) / each_pod(at, RUST), Share(1 / 2))),
    ('list by label, of client-go\'s lister',
     lambda at: (at('100k pods', 'library', 'read_label') / at('100k pods', OTHER, 'read_label'), Share(1 / 20))),
    ('CPU per change at 100k pods, of that at 1k', growth('event_cpu', '1k pods', '100k pods', 1.25)),
    ('CPU per change at 1,000/s, of that without state', share('rate1000_cpu', STATE, 1.15, 'informerd without state')),
    ('the same with a plain cache', lambda at: (at(STATE, PLAIN, 'rate1000_cpu') /
                                                at(STATE, 'informerd plain, no state', 'rate1000_cpu'), 1.15)),
    ('start to reads served, milliseconds', lambda at: (at(START, LIBRARY, 'start_warm') * 1e3, 50)),
    ('the same with a cold page cache, milliseconds', lambda at: (at(START, LIBRARY, 'start_cold') * 1e3, 150)),
    ('peak memory of a start, of afterwards', lambda at: (at(START, LIBRARY, 'start_peak') / at(START, LIBRARY, 'start_rss'), 1.2)),
    ('written per change of 7 KB, bytes', lambda at: (at(START, LIBRARY, 'written'), 1200)),
    ('200 idle watches, % of a core', lambda at: (at('200 idle watches', BEST, 'idle_cpu') * 100, 0.01)),
    ('200 idle watches, wake-ups per second', lambda at: (at('200 idle watches', BEST, 'idle_switches'), 10)),
    ('worst tick, milliseconds', lambda at: (max(at.all(BEST, 'tick')) * 1e3, 5)),
    ('worst tick of a start or a compaction, milliseconds', lambda at: (at(START, LIBRARY, 'tick') * 1e3, 5)),
)


class Figures:
    """at(case, client, figure): the measurement, or KeyError."""

    def __init__(self, results):
        self.cases, self.text = results['cases'], results['circumstances']['text']

    def __call__(self, case, client, figure):
        return self.cases[case][client][figure]

    def all(self, client, figure):
        return [clients[client][figure] for clients in self.cases.values() if figure in clients.get(client, {})]


def readable(value, wanted):
    return f'1/{1 / value:.1f}' if isinstance(wanted, Share) else f'{value:.5g}'


def verdict(results):
    """Prints a line for each target and stores it in the results."""
    at, lines = Figures(results), []
    for title, target in TARGETS:
        try:
            value, wanted = target(at)
        except (KeyError, ValueError):
            lines.append((title, '', '', 'not measured'))
            continue
        lines.append((title, readable(value, wanted), readable(wanted, wanted), 'met' if value <= wanted else 'NOT MET'))
    print('informerd, with its event log\n')
    for title, value, wanted, word in lines:
        print(f'  {title:52}{value:>10}   at most {wanted:<8}{word}')
    print(f'\n  (a program that only reads the clock did not run for up to '
          f'{results["circumstances"]["stall"] * 1e3:.3g} ms)')
    results['targets'] = [dict(zip(('target', 'value', 'wanted', 'word'), line)) for line in lines]
    print(flush=True)
