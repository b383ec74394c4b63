"""`make demo`: zero nodes, twelve pods, and what happens until they run, second by second."""
