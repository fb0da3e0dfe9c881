"""WHAT HAPPENS, IN ORDER: submit -> fan_out -> invoke -> validate -> settle -> report, and sweep.

Each step is one file with one public function. Steps never import each other: they hand over
through the store and the queue, and every one may run twice or at the same time.
"""
