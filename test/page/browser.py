"""Cases with the page in Chromium."""
import atexit
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
for folder in ('daemon', 'lib', 'page'):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))
from chromium import CHROMIUM, SIZES, Browser  # noqa: E402, F401 (imported from here by the tests)
from world import PageCase  # noqa: E402


class PagesInBrowser(PageCase):
    """Cases with tabs of one browser, which takes a second to start; it ends with the program."""
    browser = None

    def setUp(self):
        if not CHROMIUM:
            self.skipTest('needs chromium')
        super().setUp()
        if not PagesInBrowser.browser:
            folder = tempfile.TemporaryDirectory(prefix='informerd.', ignore_cleanup_errors=True)
            atexit.register(folder.cleanup)
            PagesInBrowser.browser = Browser(Path(folder.name))
            atexit.register(PagesInBrowser.browser.__exit__)

    def open(self, view='', bypass=False, **size):
        """A tab with a session. With `bypass` scripts of a test may be run in spite of the page's policy."""
        tab = self.browser.tab(**size)
        self.addCleanup(tab.close)
        if bypass:
            tab.call('Page.setBypassCSP', {'enabled': True})
        tab.open(self.url())
        tab.wait('document.body.classList.contains("open")', 'the session')
        if view:
            tab.run(f'location.hash = "#/{view}"')
        return tab
