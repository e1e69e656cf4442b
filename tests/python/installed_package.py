"""What cmake --install makes of the Python package: it finds its library, and Python and pytest find it."""

import importlib.metadata
import os

import dmlop

assert dmlop.devices()[0].spec == "cpu"
found = importlib.metadata.distribution("dmlop")
assert found.version == dmlop.__version__, found.version
plugins = [(point.group, point.name, point.value) for point in found.entry_points]
assert plugins == [("pytest11", "dmlop", "dmlop.pytest_plugin")], plugins
folder = os.path.dirname(dmlop.__file__)
assert os.path.exists(os.path.join(folder, "_ops.pyi")), "type stubs are missing"
assert os.path.exists(os.path.join(folder, "py.typed"))
