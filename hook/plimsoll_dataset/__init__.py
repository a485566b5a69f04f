"""Rows of `plimsoll dataset`: a network is made, described and trained for as few steps as show its memory, each in a forked process."""
