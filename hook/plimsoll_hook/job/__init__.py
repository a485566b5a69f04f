"""Steps, the end of the program, and its tracebacks."""
