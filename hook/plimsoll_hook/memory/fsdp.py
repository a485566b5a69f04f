"""fully_shard (FSDP2) gathers, frees and reduces parameters between the modules, on either side of the backward
pass. The group of parameters it works for says whose memory that is."""

import functools

from .. import device
from . import attribution, names


def _within(function, afterwards=None):
    @functools.wraps(function)
    def wrapped(group, *args, **kwargs):
        device.enter(_text(group), device.KEEP_PHASE)
        try:
            return function(group, *args, **kwargs)
        finally:
            device.leave_frame()
            if afterwards is not None:
                attribution.safely(afterwards, group)

    return wrapped


_texts = {}


def _text(group):
    path = getattr(group, "_module_fqn", None) or "(FSDP root)"
    if path not in _texts:
        _texts[path] = device.text(path)
    return _texts[path]


def _tag_gathered(group):
    """The whole parameters, while they are there."""
    for parameter in group.fsdp_params:
        whole = getattr(parameter, "_unsharded_param", None)
        if whole is not None:
            owner = names.parameters.get(id(getattr(parameter, "sharded_param", None)), 0)
            attribution.tag_tensor(whole, device.PARAMETERS, owner)


def hook_groups(module):
    """Called when torch.distributed.fsdp._fully_shard._fsdp_param_group has been imported."""
    cls = module.FSDPParamGroup
    for name, afterwards in (("unshard", None), ("wait_for_unshard", _tag_gathered), ("post_backward", None),
                             ("finalize_backward", None)):
        if hasattr(cls, name):
            setattr(cls, name, _within(getattr(cls, name), afterwards))
