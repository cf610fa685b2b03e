"""What was measured, for people: a row for each client, and beside it how many times more that is than informerd."""

COLUMNS = (  # figure, title, unit, how many of it are one
    ('sync_cpu', 'first sync, CPU per object', 'us', 1e-6),
    ('sync_wall', 'start to synced', 's', 1),
    ('sync_peak', 'most memory till then', 'MB', 1e6),
    ('event_cpu', 'change flat out, CPU', 'us', 1e-6),
    ('event_wall', 'change flat out, wall', 'us', 1e-6),
    ('paced_cpu', 'change at 1,000/s, CPU', 'us', 1e-6),
    ('p50', 'latency at 1,000/s, median', 'us', 1e-6),
    ('p99', 'latency, 99 of 100', 'us', 1e-6),
    ('max', 'latency, worst', 'us', 1e-6),
    ('steady', 'steady memory', 'MB', 1e6),
    ('relist_cpu', 'relist unchanged, CPU per object', 'us', 1e-6),
    ('relist_peak', 'most memory in it', 'MB', 1e6),
    ('churn_cpu', 'relist with a tenth changed', 'us', 1e-6),
    ('churn_peak', 'most memory in it', 'MB', 1e6),
    ('storm_cpu', 'reconnect, CPU per watch', 'us', 1e-6),
    ('idle_cpu', 'idle, of a core', '%', 1e-2),
    ('read_key', 'get by key', 'us', 1e-6),
    ('read_namespace', 'list a namespace, 1 in 20', 'us', 1e-6),
    ('read_label', 'list by label, 1 in 100', 'us', 1e-6),
    ('read_index', 'list by index, 1 in 500', 'us', 1e-6),
    ('tick', 'worst tick', 'ms', 1e-3),
)


def number(value):
    return f'{value:,.0f}' if value >= 100 else f'{value:.3g}'


def show(case, clients):
    """Figures down, clients across: each with its value and, behind it, by how much it is more than the first one's."""
    first = next(iter(clients))
    print(f'\n{case.title} ({case.size / 1000:.4g} KB each)')
    print(f'  {"":34}' + ''.join(f'{name:>22}' for name in clients))
    for figure, title, unit, one in COLUMNS:
        if any(figure in figures for figures in clients.values()):
            print(f'  {title + ", " + unit:34}' + ''.join(cell(clients, name, first, figure, one) for name in clients))
    print(flush=True)


def cell(clients, name, first, figure, one):
    if figure not in clients[name]:
        return f'{"-":>22}'
    base = clients[first].get(figure)
    ratio = f'{clients[name][figure] / base:.1f}x' if base and name != first else ''
    return f'{number(clients[name][figure] / one):>14}{ratio:>8}'
