"""Cases as files: CASE.onnx, CASE.input<i>.npy, CASE.output<i>.npy.

Inputs that say how (shapes, axes, pads, ...) become constants of the model, as they are in real
ones; symbolic extents become those of the data.
"""

import pathlib
import warnings

import numpy as np
import onnx
from onnx import numpy_helper, version_converter
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests

TYPES = {np.dtype(name) for name in (
    "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "bool")}

# Inputs of operators that are parameters rather than data.
PARAMETERS = {
    "Reshape": [1], "Expand": [1], "Tile": [1], "ConstantOfShape": [0], "Squeeze": [1],
    "Unsqueeze": [1], "Slice": [1, 2, 3, 4], "Pad": [1, 2, 3], "Split": [1], "Gather": [1],
    "Range": [0, 1, 2], "Dropout": [1, 2], "Resize": [1, 2, 3], "Upsample": [1],
    "CumSum": [1], "CumProd": [1],
    "OneHot": [1], "Trilu": [1], "GatherND": [1], "GatherElements": [1], "CenterCropPad": [1],
    "TopK": [1],
    **{"Reduce" + kind: [1] for kind in (
        "Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSum", "LogSumExp")},
}


class OtherType(Exception):
    """The case has something else than dense tensors of common numbers."""


def parameters_of(model):
    """Names of the graph inputs that are parameters."""
    return {node.input[i] for node in model.graph.node for i in PARAMETERS.get(node.op_type, [])
            if i < len(node.input)}


def arrays_of(protos):
    arrays = []
    for proto in protos:
        if isinstance(proto, onnx.TensorProto):
            proto = numpy_helper.to_array(proto)
        if not isinstance(proto, np.ndarray) and not np.isscalar(proto):
            raise OtherType(f"{type(proto).__name__} instead of a tensor")
        array = np.asarray(proto)
        if array.dtype not in TYPES:
            raise OtherType(f"type {array.dtype}")
        arrays.append(array)
    return arrays


def write(directory, name, model, inputs, outputs):
    inputs = arrays_of(inputs)
    outputs = arrays_of(outputs)
    model = onnx.ModelProto.FromString(model.SerializeToString())
    names = [value.name for value in model.graph.input]
    constants = parameters_of(model) | {tensor.name for tensor in model.graph.initializer}
    kept = []
    for name_of_input, array in zip(names, inputs):
        if name_of_input in constants:
            model.graph.initializer.append(numpy_helper.from_array(array, name_of_input))
        else:
            kept.append(array)
    remaining = [value for value in model.graph.input if value.name not in constants]
    shapes = dict(zip((value.name for value in remaining), (array.shape for array in kept)))
    for value in remaining:  # Symbolic extents become those of the data.
        del value.type.tensor_type.shape.dim[:]
        for extent in shapes[value.name]:
            value.type.tensor_type.shape.dim.add().dim_value = extent
    del model.graph.input[:]
    model.graph.input.extend(remaining)
    (directory / f"{name}.onnx").write_bytes(model.SerializeToString())
    for kind, arrays in (("input", kept), ("output", outputs)):
        for i, array in enumerate(arrays):
            array = np.ascontiguousarray(array).reshape(array.shape)
            np.save(directory / f"{name}.{kind}{i}.npy", array)


def at_opset_of_ours(model):
    """The model, of opset 7 where it is of an older one; None if that cannot be said."""
    if model.opset_import[0].version >= 7:
        return model
    try:
        return version_converter.convert_version(model, 7)
    except Exception:  # Whatever the converter does not know.
        return None


def all_cases():
    """Tuples of name, model, inputs, outputs, relative and absolute tolerance."""
    for case in collect_testcases(None):
        if case.model is not None:
            model = at_opset_of_ours(case.model)
            if model is None:
                continue
            for inputs, outputs in case.data_sets[:1]:
                yield case.name, model, inputs, outputs, case.rtol, case.atol
    for kind in ("pytorch-converted", "pytorch-operator", "simple"):
        for case in load_model_tests(kind=kind):
            directory = pathlib.Path(case.model_dir)
            data = directory / "test_data_set_0"
            if not data.is_dir():
                continue

            def protos(stem):
                return [onnx.TensorProto.FromString((data / f"{stem}_{i}.pb").read_bytes())
                        for i in range(len(list(data.glob(f"{stem}_*.pb"))))]

            model = onnx.load(directory / "model.onnx")
            try:
                loaded = protos("input"), protos("output")
            except Exception:  # Sequences and the like.
                continue
            model = at_opset_of_ours(model)
            if model is not None:
                yield case.name, model, *loaded, case.rtol, case.atol


def node_cases(operators):
    """Those whose operators are all among the given ones, each name once."""
    warnings.simplefilter("ignore")
    seen = set()
    for case in all_cases():
        nodes = case[1].graph.node
        if case[0] not in seen and all(
                node.domain in ("", "ai.onnx") and node.op_type in operators for node in nodes):
            seen.add(case[0])
            yield case
