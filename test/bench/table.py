"""Prints the measurements as tables: a column for each client, with its ratio to informerd."""

from life import RATES

COLUMNS = (  # figure, title, unit, divisor
    ('sync_cpu', 'first sync, CPU per object', 'us', 1e-6),
    ('sync_wall', 'start to synced', 's', 1),
    ('sync_peak', 'peak memory until then', 'MB', 1e6),
    ('event_cpu', 'change at full speed, CPU', 'us', 1e-6),
    ('event_wall', 'change at full speed, wall', 'us', 1e-6),
    ('paced_cpu', 'change at 1,000/s, CPU', 'us', 1e-6),
    ('p50', 'latency at 1,000/s, median', 'us', 1e-6),
    ('p99', 'latency, 99th percentile', 'us', 1e-6),
    ('max', 'latency, worst', 'us', 1e-6),
    *((f'rate{rate}_{figure}', f'{title} at {rate:,}/s', unit, one) for figure, title, unit, one in (
        ('cpu', 'CPU per change', 'us', 1e-6), ('switches', 'context switches', '', 1), ('p50', 'latency median', 'us', 1e-6),
        ('p99', 'latency p99', 'us', 1e-6), ('p999', 'latency p99.9', 'us', 1e-6)) for rate in RATES),
    ('steady', 'steady memory', 'MB', 1e6),
    ('per_pod', 'of it per pod, with the process', 'bytes', 1),
    ('relist_cpu', 'relist unchanged, CPU per object', 'us', 1e-6),
    ('relist_peak', 'peak memory of that', 'MB', 1e6),
    ('churn_cpu', 'relist with a tenth changed', 'us', 1e-6),
    ('churn_peak', 'peak memory of that', 'MB', 1e6),
    ('storm_cpu', 'reconnect, CPU per watch', 'us', 1e-6),
    ('scrape_cpu', 'page of metrics, CPU', 'us', 1e-6),
    ('idle_cpu', 'idle, of a core', '%', 1e-2),
    ('idle_switches', 'idle, context switches per second', '', 1),
    ('read_key', 'get by key', 'us', 1e-6),
    ('read_namespace', 'list a namespace, 1 in 20', 'us', 1e-6),
    ('read_label', 'list by label, 1 in 100', 'us', 1e-6),
    ('read_index', 'list by index, 1 in 500', 'us', 1e-6),
    ('start_warm', 'start to reads served', 'ms', 1e-3),
    ('start_cold', 'the same with a cold page cache', 'ms', 1e-3),
    ('start_label', 'start to a list by label served', 'ms', 1e-3),
    ('start_loaded', 'of the warm one: files read', 'ms', 1e-3),
    ('start_cpu', 'its CPU per object', 'us', 1e-6),
    ('start_peak', 'its peak memory', 'MB', 1e6),
    ('start_rss', 'memory afterwards', 'MB', 1e6),
    ('written', 'written per change of 7 KB', 'bytes', 1),
    ('tick', 'worst tick', 'ms', 1e-3),
)


def number(value):
    return f'{value:,.0f}' if value >= 100 else f'{value:.3g}'


def show(case, clients):
    """A row for each figure, a column for each client: the value, and its ratio to that of the first client."""
    first = next(iter(clients))
    print(f'\n{case.title} ({"about 12" if case.deployments else f"{case.size / 1000:.4g}"} KB each)')
    print(f'  {"":34}' + ''.join(f'{name:>26}' for name in clients))
    for figure, title, unit, one in COLUMNS:
        if any(figure in figures for figures in clients.values()):
            print(f'  {title + (", " + unit if unit else ""):34}' + ''.join(cell(clients, name, first, figure, one) for name in clients))
    print(flush=True)


def cell(clients, name, first, figure, one):
    if figure not in clients[name]:
        return f'{"-":>26}'
    base = clients[first].get(figure)
    ratio = f'{clients[name][figure] / base:.1f}x' if base and name != first else ''
    return f'{number(clients[name][figure] / one):>18}{ratio:>8}'
