"""What happens at the top of each iteration: the profiler's step, what is described of the model, the end."""

import ctypes
import os
import warnings

from . import describe, status
from .shared import ending

LEAST = 3  # iterations of which a trace is worth something


def _leave():
    ending.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(0)


class Session:
    """Listens to iterations.Iterations, which puts itself into `iterations`."""

    def __init__(self, torch):
        self.torch = torch
        self.iterations = None
        self.mine = None  # not known yet whether this process is the one
        self.left = False
        self.describer = describe.Describer(torch)

    def optimizer_made(self):
        self.describer.look()

    def begin(self, number):
        if self.left:
            _leave()  # the SystemExit was swallowed by a bare `except:`
        if self.mine is None:
            self.mine = status.claim()
        if not self.mine:
            self.iterations.stop()
            self.describer.look_away()
            return
        try:
            if number <= status.ITERATIONS:
                status.say(f"iteration {number}")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of the profiler, about how it is used here
                    self.describer.begin(number)
                    self.top(number)
                return
            self.finish(number - 1)
        except Exception as error:
            status.problem(f"the capture failed ({type(error).__name__}: {error})")
        self.stop()

    @staticmethod
    def enough(number):
        return number >= status.ITERATIONS

    def stop(self):
        self.left = True
        self.iterations.stop()
        ending.stop(_leave)

    def finish(self, iterations):
        status.say("exporting")
        self.write()
        status.say(f"written {self.count(iterations)}")

    def ended(self, steps):
        """The program ends by itself."""
        if not self.mine:
            return
        status.say(f"steps {steps}")
        try:
            if steps < self.least:
                self.abandon()
            else:
                self.finish(steps)
        except Exception as error:
            status.problem(f"the capture failed ({type(error).__name__}: {error})")

    def abandon(self):
        """There is nothing worth writing."""

    def stepped(self, optimizer):
        self.describer.after_step(optimizer)

    def zero_grad(self):
        if self.mine and not self.left:
            self.describer.zero_grad()


class Trace(Session):
    """The profiler of the published method: the first iteration warms up, the others are recorded."""

    least = LEAST

    def __init__(self, torch):
        super().__init__(torch)
        self.profiler = None

    def top(self, number):
        if number == 1:
            profiler = self.torch.profiler
            schedule = profiler.schedule(wait=1, warmup=1, active=max(5, status.ITERATIONS - 1))
            self.profiler = profiler.profile(activities=[profiler.ProfilerActivity.CPU], schedule=schedule, record_shapes=True,
                                             profile_memory=True, with_stack=True, with_modules=True)
            self.profiler.start()
        self.profiler.step()

    def abandon(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.profiler.stop()  # an interpreter that shuts down under it hangs

    def write(self):
        from . import export

        self.describer.end()
        description = self.describer.text()
        if description:
            self.profiler.add_metadata_json("plimsoll_description", description)
        self.abandon()
        export.write(self.profiler, status.OUTPUT, status.PACKED)

    @staticmethod
    def count(iterations):
        return iterations - 1


class Description(Session):
    least = 2

    def top(self, number):
        pass

    def write(self):
        self.describer.end()
        text = self.describer.text()
        if text is None:
            raise LookupError("no module has the parameters that the optimizer steps")
        path = f"{status.OUTPUT}.{os.getpid()}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(path, status.OUTPUT)

    @staticmethod
    def count(iterations):
        return iterations


def make(torch):
    return Trace(torch) if status.WHAT == "trace" else Description(torch)
