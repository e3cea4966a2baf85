"""What can go wrong in a front end: a class of failure, and one line that says what happened."""

EXIT_CODES = {"not_installed": 3, "not_supported": 2, "values": 1, "runtime": 1}


class FrontEndError(Exception):
    """A failure that the report names. KIND is a key of EXIT_CODES."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind

    @property
    def exit_code(self):
        return EXIT_CODES[self.kind]


def not_supported(message):
    return FrontEndError("not_supported", message)


def wrong_values(message):
    return FrontEndError("values", message)
