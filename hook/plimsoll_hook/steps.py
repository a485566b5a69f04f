"""Counts optimizer steps and ends the program after enough of them."""

import atexit
import sys
import threading

from . import device


class _Stop(SystemExit):
    """Ends the program as sys.exit(0) would."""


class Steps:
    """Counts the steps of each optimizer. A step of the job is over when every optimizer that takes
    part has made it; one that steps rarely is not waited for."""

    def __init__(self):
        self.counts = {}
        self.done = 0
        self.stopping = False

    def after(self, optimizer, *_):
        if self.stopping:  # the SystemExit was swallowed by a bare `except:`
            self.leave()
        key = id(optimizer)
        number = self.counts.get(key, 0) + 1
        self.counts[key] = number
        behind = min(self.counts.values())
        done = max(behind, max(self.counts.values()) - 1)
        if done > self.done:
            self.done = done
            if device.step(done, len(self.counts)):
                self.stop()

    def stop(self):
        self.stopping = True
        if threading.current_thread() is not threading.main_thread():
            self.leave()  # a SystemExit would end this thread alone
        self.leave_after_exit_functions()
        raise _Stop(0)

    def leave_after_exit_functions(self):
        """The interpreter shuts down by calling threading._shutdown, then the exit functions, and then ends every
        thread that still wants to run Python. PyTorch's autograd threads, stopped in the middle of a step, abort the
        process at that point. So it leaves just before."""
        shutdown = threading._shutdown

        def last():
            try:
                shutdown()
                atexit._run_exitfuncs()
            finally:
                self.leave()

        threading._shutdown = last

    @staticmethod
    def leave():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass  # closed or replaced by the program
        device.leave()


_steps = Steps()


def hook_optimizer(module):
    """Called when torch.optim.optimizer has been imported."""
    module.register_optimizer_step_post_hook(_steps.after)
