"""The place that each Python callback passes."""


class ModuleContext:
    def __init__(self):
        self.callbacks = []

    def add_host_callback(self, callback):
        self.callbacks.append(callback)
