"""Counts optimizer steps and ends the program after enough of them."""

from . import device, leaving


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
        leaving.stop(self.leave)

    @staticmethod
    def leave():
        leaving.flush()
        device.leave()


_steps = Steps()


def hook_optimizer(module):
    """Called when torch.optim.optimizer has been imported."""
    module.register_optimizer_step_post_hook(_steps.after)
