"""placeholder"""


def add_options(p):
    pass
