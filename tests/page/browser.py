"""A headless Chromium, driven by the WebDriver protocol over plain HTTP. Python's standard library alone."""
import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Shift": "\ue008", "PageUp": "\ue00e", "PageDown": "\ue00f",
        "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """One window with a profile of its own. Use it in a `with`."""

    def __init__(self, folder):
        self.profile = tempfile.mkdtemp(dir=folder, prefix="profile-")
        self.port = free_port()
        self.driver = subprocess.Popen([shutil.which("chromedriver"), f"--port={self.port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.session = None

    def __enter__(self):
        try:
            self.wait()
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
                         "--disable-sync", "--no-first-run", "--hide-scrollbars", f"--user-data-dir={self.profile}"]
            wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                      "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": arguments}}
            answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = f"/session/{answer['sessionId']}"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def wait(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                return self.call("GET", "/status")
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def command(self, path, body):
        return self.call("POST", self.session + path, body)

    def devtools(self, name, **parameters):
        return self.command("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path, width=1280, height=900, scheme="light"):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.command("/url", {"url": "about:blank"})
        self.log("browser"), self.log("performance")  # what the browser's own first page did
        self.command("/url", {"url": path.as_uri()})

    def run(self, script, *arguments):
        return self.command("/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def data(self, selector, name):
        return self.run("return document.querySelector(arguments[0]).dataset[arguments[1]]", selector, name)

    def find(self, selector):
        return self.command("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.command(f"/element/{self.find(selector)}/click", {})
        self.settle()

    def settle(self):
        """Waits for what an input left to do: a <details> tells that it was opened, and draws what is in it, in a task of its own."""
        frame = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));"
        self.command("/execute/async", {"script": frame, "args": []})

    def keys(self, selector, *keys, shift=False):
        """Typed at an element, which gets the focus."""
        text = "".join(KEYS.get(key, key) for key in keys)
        self.command(f"/element/{self.find(selector)}/value", {"text": KEYS["Shift"] + text if shift else text})

    def press(self, key):
        """Typed at whatever has the focus."""
        value = KEYS.get(key, key)
        self.actions({"type": "key", "id": "keyboard", "actions": [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]})

    def pointer(self, selector, *moves):
        """moves: (x, y) from the element's centre, "down" or "up"."""
        origin = {ELEMENT: self.find(selector)}
        steps = [{"type": f"pointer{move.capitalize()}", "button": 0} if isinstance(move, str) else
                 {"type": "pointerMove", "origin": origin, "x": move[0], "y": move[1], "duration": 20} for move in moves]
        self.actions({"type": "pointer", "id": "mouse", "actions": steps})

    def actions(self, device):
        self.command("/actions", {"actions": [device]})

    def screenshot(self, path):
        size = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def log(self, kind):
        return self.command("/se/log", {"type": kind})

    def complaints(self):
        return [entry["message"] for entry in self.log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses of everything that was asked for since the last call."""
        messages = (json.loads(entry["message"])["message"] for entry in self.log("performance"))
        return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]
