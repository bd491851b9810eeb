"""Pins of attention libraries in the files of another repository, read as data.

Text in, `Pin`s out: nothing is installed, imported or executed. One kind of file a module.
"""
