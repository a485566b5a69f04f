"""Whose memory is whose: modules, parameters, shards."""
