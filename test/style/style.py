"""Shared by the style tests: listing files, separating code from comments, reporting violations."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

SKIP = 77  # exit status with which meson counts a test as skipped


def files(root, *patterns):
    """The files below root that match one of the patterns ('src/**/*.[ch]'), in order."""
    return sorted({f for p in patterns for f in Path(root).glob(p) if f.is_file()})


def tracked(root):
    """Every file of the project: what git tracks or would add; without git, all but build directories."""
    git = ['git', '-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
    listing = shutil.which('git') and subprocess.run(git, capture_output=True, text=True)
    if listing and listing.returncode == 0:
        return sorted(f for f in (Path(root, name) for name in set(listing.stdout.split('\0'))) if f.is_file())
    foreign = re.compile(r'\.git|build|build-.*|__pycache__')
    return [f for f in files(root, '**/*') if not foreign.fullmatch(f.relative_to(root).parts[0])]


def code(path, strings=False):
    """The lines of a C file with comments blanked, and string literals too unless wanted."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)

    def blank(match):
        if strings and match[0][0] in '"\'':
            return match[0]
        return re.sub(r'[^\n]', ' ', match[0])

    return token.sub(blank, Path(path).read_text()).splitlines()


def prose(path):
    """(number, text) of each line that people read: the comments and strings of a C file, all of any other file."""
    text = Path(path).read_text()
    if Path(path).suffix not in ('.c', '.h'):
        return list(enumerate(text.splitlines(), 1))
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return [(text.count('\n', 0, match.start()) + 1 + i, line)
            for match in token.finditer(text) for i, line in enumerate(match[0].splitlines())]


class Rule:
    """A rule as one sentence, the places that break it, and the remedy."""

    def __init__(self, root, sentence, remedy):
        self.root, self.sentence, self.remedy = Path(root), sentence, remedy
        self.places = []

    def broken(self, path, line, what):
        self.places.append(f'{Path(path).relative_to(self.root)}:{line}: {what}')

    def verdict(self):
        """Prints the violations and exits."""
        if self.places:
            print(f'Rule: {self.sentence}', *self.places, f'Remedy: {self.remedy}', sep='\n')
        sys.exit(1 if self.places else 0)
