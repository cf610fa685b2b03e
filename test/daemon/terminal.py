"""A terminal for tests: tmux, whose screens are captured."""
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from service import DEADLINE, environment

SCREENS = Path(__file__).resolve().parent.parent / 'data/screens'
TMUX = shutil.which('tmux')


class Terminal:
    """A separate tmux server with one pane."""

    def __init__(self, folder, size, command, stderr=False, **env):
        self.base = [TMUX, '-u', '-f', '/dev/null', '-S', str(folder / 'tmux')]
        self.env = environment(folder, **{'LANG': 'C.UTF-8', 'LC_ALL': 'C.UTF-8', **env})
        self.env['NO_COLOR'] = env.get('NO_COLOR', '')
        line = f'exec {shlex.join(map(str, command))}'
        if not stderr:
            line += f' 2>>{shlex.quote(str(folder / "stderr"))}'
        self.tmux('new-session', '-d', '-x', str(size[0]), '-y', str(size[1]), line)

    def tmux(self, *arguments):
        return subprocess.run([*self.base, *arguments], env=self.env, check=True, capture_output=True, text=True,
                              timeout=DEADLINE).stdout

    def screen(self, *how):
        """The current content; `-e` keeps the colours."""
        return mask(self.tmux('capture-pane', '-p', *how))

    def colours(self):
        """The same with colours as '{32}' and '{}' where they end, independent of the version of tmux."""
        ends = re.sub(r'(\x1b\[(0|39|49)?m)+', '{}', self.screen('-e'))
        return re.sub(r'\x1b\[([\d;]+)m', r'{\1}', ends)

    def end(self):
        subprocess.run([*self.base, 'kill-server'], env=self.env, capture_output=True)


def mask(text):
    """Replaces times, uids and ports, which differ in each run."""
    text = re.sub(r'\d\d:\d\d:\d\d', 'HH:MM:SS', text)
    text = re.sub(r'\d{4}-\d\d-\d\dT', 'YYYY-MM-DDT', text)
    text = re.sub(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'UID', text)
    return re.sub(r'127\.0\.0\.1:\d{5}', '127.0.0.1:PORT_', text).rstrip('\n') + '\n'
