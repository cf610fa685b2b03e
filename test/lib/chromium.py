"""A headless Chromium for tests, driven over its debugging pipe: no port, no driver, no further packages.

    with Browser(folder) as browser:
        tab = browser.tab(width=1280, height=800, dark=True)
        tab.open(url)
        tab.wait('document.querySelector("h1")')
"""
import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from harness import DEADLINE  # noqa: E402

CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--no-default-browser-check',
             '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions',
             '--disable-default-apps', '--disable-dev-shm-usage', '--disable-background-timer-throttling',
             '--disable-renderer-backgrounding', '--disable-backgrounding-occluded-windows', '--no-proxy-server',
             '--disable-features=OptimizationHints,MediaRouter,Translate,DialMediaRouteProvider',
             '--ignore-certificate-errors', '--remote-debugging-pipe']
SIZES = ((360, 740), (1280, 800), (3840, 2160))


class Browser:
    """Its own empty profile; ends with the context."""

    def __init__(self, folder, *arguments):
        to_child, self.writer = os.pipe()
        self.reader, from_child = os.pipe()
        self.rest, self.number, self.answers, self.tabs = b'', 0, {}, {}
        profile = folder / f'profile-{os.getpid()}-{time.monotonic_ns()}'

        def connect():  # the browser reads from 3 and writes to 4
            first, second = os.dup2(to_child, 10), os.dup2(from_child, 11)
            os.dup2(first, 3), os.dup2(second, 4)
        env = {**os.environ, 'HOME': str(folder), 'XDG_CONFIG_HOME': str(folder), 'XDG_CACHE_HOME': str(folder)}
        with open(folder / 'chromium.log', 'ab') as log:
            self.child = subprocess.Popen([CHROMIUM, *ARGUMENTS, f'--user-data-dir={profile}', *arguments, 'about:blank'],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, close_fds=False,
                                          preexec_fn=connect, start_new_session=True)
        os.close(to_child), os.close(from_child)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, AssertionError):
            self.call('Browser.close')
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(10)
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.reader), os.close(self.writer)

    def send(self, method, parameters=None, session=None):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters or {}}
        if session:
            message['sessionId'] = session
        text = json.dumps(message).encode() + b'\0'
        while text:
            text = text[os.write(self.writer, text):]
        return self.number

    def receive(self, timeout):
        """Reads messages that have arrived, and waits at most `timeout` seconds for the first one."""
        if not select.select([self.reader], [], [], timeout)[0]:
            return
        piece = os.read(self.reader, 1 << 20)
        assert piece, 'the browser has ended'
        *messages, self.rest = (self.rest + piece).split(b'\0')
        for message in map(json.loads, messages):
            if 'id' in message:
                self.answers[message['id']] = message
            elif message.get('sessionId') in self.tabs:
                self.tabs[message['sessionId']].on_event(message['method'], message['params'])

    def call(self, method, parameters=None, session=None):
        number, end = self.send(method, parameters, session), time.monotonic() + DEADLINE
        while number not in self.answers:
            assert time.monotonic() < end, f'no answer to {method}'
            self.receive(1)
        answer = self.answers.pop(number)
        assert 'error' not in answer, f'{method}: {answer["error"]}'
        return answer['result']

    def tab(self, width=1280, height=800, dark=False):
        target = self.call('Target.createTarget', {'url': 'about:blank'})['targetId']
        session = self.call('Target.attachToTarget', {'targetId': target, 'flatten': True})['sessionId']
        tab = self.tabs[session] = Tab(self, session, target)
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            tab.call(f'{domain}.enable')
        tab.resize(width, height, dark)
        return tab


class Tab:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.problems, self.requests = [], []  # errors of scripts and of the policy; (method, URL, headers) of requests

    def on_event(self, method, p):
        if method == 'Runtime.exceptionThrown':
            details = p['exceptionDetails']
            self.problems.append(details.get('exception', {}).get('description') or details['text'])
        elif method == 'Log.entryAdded' and p['entry']['source'] in ('security', 'javascript'):
            self.problems.append(p['entry']['text'])
        elif method == 'Runtime.consoleAPICalled' and p['type'] == 'error':
            self.problems.append(str([a.get('value') or a.get('description') for a in p['args']]))
        elif method == 'Network.requestWillBeSent':
            self.requests.append((p['request']['method'], p['request']['url'], p['request']['headers']))

    def call(self, method, parameters=None):
        return self.browser.call(method, parameters, self.session)

    def resize(self, width, height, dark=False):
        self.call('Emulation.setDeviceMetricsOverride',
                  {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})
        self.call('Emulation.setEmulatedMedia', {'features': [
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]})

    def open(self, url):
        self.call('Page.navigate', {'url': url})

    def run(self, script):
        """The value of an expression or of the promise that it returns."""
        answer = self.call('Runtime.evaluate', {'expression': script, 'awaitPromise': True, 'returnByValue': True})
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise AssertionError(f'{script}: {details.get("exception", {}).get("description", details["text"])}')
        return answer['result'].get('value')

    def wait(self, script, what=None):
        """Waits until the expression is true, and returns its value."""
        end = time.monotonic() + DEADLINE
        while True:
            with contextlib.suppress(AssertionError):  # the page is being replaced
                if value := self.run(script):
                    return value
            assert time.monotonic() < end, f'{what or script}; the page: {self.text()[:2000]}; {self.problems}'
            self.browser.receive(0.05)

    def wait_text(self, *texts):
        for text in texts:
            self.wait(f'document.body.innerText.includes({json.dumps(text)})', f'the text {text!r}')

    def text(self):
        return self.run('document.body.innerText')

    def key(self, key, **more):
        text = {'text': key} if len(key) == 1 else {}
        if key == 'Enter':
            text = {'text': '\r'}
        more['windowsVirtualKeyCode'] = {'Enter': 13, 'Escape': 27, 'Tab': 9}.get(key, 0)
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', {'type': kind, 'key': key, **(text if kind == 'keyDown' else {}), **more})

    def type(self, selector, text):
        """Replaces the value of an input."""
        self.run(f'(i => {{ i.focus(); i.value = ""; }})(document.querySelector({json.dumps(selector)}))')
        self.call('Input.insertText', {'text': text})
        if not text:
            self.run(f'document.querySelector({json.dumps(selector)}).dispatchEvent(new Event("input", {{bubbles: true}}))')

    def choose(self, selector, value):
        """Selects an option."""
        self.run(f'(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event("change", {{bubbles: true}})); }})'
                 f'(document.querySelector({json.dumps(selector)}))')

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        self.run(f'document.querySelector({json.dumps(selector)}).click()')

    def picture(self, path, scale=1):
        size = self.run('({width: innerWidth, height: innerHeight})')
        self.run('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')  # what is due is drawn
        path.write_bytes(base64.b64decode(self.call('Page.captureScreenshot', {
            'format': 'png', 'clip': {'x': 0, 'y': 0, 'scale': scale, **size}})['data']))

    def metrics(self):
        self.call('Performance.enable')
        return {m['name']: m['value'] for m in self.call('Performance.getMetrics')['metrics']}

    def close(self):
        if self.browser.tabs.pop(self.session, None):
            self.browser.call('Target.closeTarget', {'targetId': self.target})
