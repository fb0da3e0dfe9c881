"""HOW WORK GETS IN: the queue, and one task per step of the engine."""
