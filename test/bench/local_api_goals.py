"""The rows of local_api.py, and the goals of informerd in each: a part of what kube-apiserver needs, or a number."""

ROWS = {  # figure: title, unit
    'list': ('LIST, CPU per object', 'us'),
    'first': ('LIST, first byte', 'ms'),
    'get': ('GET on a kept connection, CPU', 'us'),
    'label': ('LIST by label, 1 in 100, CPU', 'ms'),
    'watchlist': ('WatchList, CPU per object', 'us'),
    'fanout': ('watch, CPU per change and watcher', 'us'),
    'idle': ('memory of an idle watcher', 'KiB'),
}
PART, MOST = 'part', 'most'
GOALS = {  # figure: (kind of goal, value) by cache and way to connect
    'list': lambda cache, way: (PART, 20 if cache == 'plain' else 12),
    'first': lambda cache, way: (MOST, 5),
    'get': lambda cache, way: (MOST, 1e6 / (30000 if way == 'TLS' else 50000)),  # 1/20 of the peer is more than that
    'label': lambda cache, way: (PART, 20),
    'watchlist': lambda cache, way: (PART, 15),
    'fanout': lambda cache, way: (PART, 4 if way == 'TLS' else 8),
    'idle': lambda cache, way: (MOST, 16) if way == 'Unix' else None,  # plus TLS
}


def judged(figure, value, theirs, cache, way):
    """The ratio to the peer, and the goal with a word on whether it is met; '' where there is none."""
    ratio = f'1/{theirs / value:.1f}' if theirs and value > 0 else ''
    goal = GOALS[figure](cache, way)
    if goal is None or (goal[0] == PART and not theirs):
        return ratio, ''
    kind, wanted = goal
    limit = theirs / wanted if kind == PART else wanted
    text = f'1/{wanted}' if kind == PART else f'{wanted:.3g} {ROWS[figure][1]}'
    return ratio, f'{text:>8} {"met" if value <= limit else "NOT MET"}'


def show(peer, ours):
    """Prints the table. @peer: {figure: value}; @ours: {(cache, way): {figure: value}}."""
    print(f'\n{"":46}{"value":>10}{"of kube-apiserver":>20}   goal')
    for figure, (title, unit) in ROWS.items():
        if figure in peer:
            print(f'{title + ", " + unit:46}')
            print(f'{"  kube-apiserver, TLS":46}{peer[figure]:10.2f}')
        for (cache, way), figures in ours.items():
            if figure in figures:
                ratio, goal = judged(figure, figures[figure], peer.get(figure), cache, way)
                name = f'  informerd, {cache}, {way}' if figure in peer else f'{title}, {unit}: {cache}, {way}'
                print(f'{name:46}{figures[figure]:10.2f}{ratio:>20}   {goal}'.rstrip())
    print(flush=True)
