"""Random single-operator cases: shapes of odd sizes, every attribute.

Expected outputs come from ONNX Runtime where it is installed, else from the reference evaluator of
the onnx package, without the cases in which that one is known to be wrong.
"""

import random

import numpy as np
import onnx
from onnx import TensorProto, helper

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


class Case:
    """A model of one node; constants are initializers."""

    def __init__(self, op, data, constants=(), opset=13, outputs=1, reference_is_right=True,
                 **attributes):
        self.op = op
        self.reference_is_right = reference_is_right
        self.inputs = [array for array in data if array is not None]
        names = []
        graph_inputs = []
        for i, array in enumerate(data):
            names.append("" if array is None else f"x{i}")
            if array is not None:
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                graph_inputs.append(helper.make_tensor_value_info(f"x{i}", kind, array.shape))
        initializers = []
        for i, array in enumerate(constants):
            names.append("" if array is None else f"c{i}")
            if array is not None:
                initializers.append(onnx.numpy_helper.from_array(np.asarray(array), f"c{i}"))
        while names and not names[-1]:
            names.pop()
        results = [f"y{i}" for i in range(outputs)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        node = helper.make_node(op, names, results, **attributes)
        graph = helper.make_graph(
            [node], op, graph_inputs,
            [helper.make_value_info(name, onnx.TypeProto()) for name in results], initializers)
        self.model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        inferred = onnx.shape_inference.infer_shapes(self.model)
        for output, value in zip(self.model.graph.output, inferred.graph.output):
            output.CopyFrom(value)

    def expected(self):
        """The outputs, or None where there is nobody to ask."""
        feeds = {value.name: array for value, array in zip(self.model.graph.input, self.inputs)}
        if onnxruntime is not None:
            onnxruntime.set_default_logger_severity(4)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            try:
                session = onnxruntime.InferenceSession(
                    self.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
                return session.run(None, feeds)
            except Exception:  # Not implemented there, or refused.
                pass
        if not self.reference_is_right:
            return None
        return onnx.reference.ReferenceEvaluator(self.model).run(None, feeds)


def fits(x, kernel, dilations):
    """Whether the window is inside the input without pads."""
    spans = [d * (side - 1) + 1 for d, side in zip(dilations or [1] * len(kernel), kernel)]
    return all(span <= extent for span, extent in zip(spans, x.shape[2:]))


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)

    def data(self, *shape, dtype=np.float32):
        if np.issubdtype(dtype, np.integer):
            return self.numpy.integers(-5, 6, shape).astype(dtype)
        if dtype == np.bool_:
            return self.numpy.integers(0, 2, shape).astype(dtype)
        return self.numpy.standard_normal(shape).astype(dtype)

    def ints(self, count, low, high):
        return [self.random.randint(low, high) for _ in range(count)]

    def maybe(self, value, chance=0.5):
        return value if self.random.random() < chance else None

    def shape(self, rank=None):
        rank = self.random.randint(0, 4) if rank is None else rank
        return self.ints(rank, 1, 5)

    def window(self, rank):
        """kernel, strides, dilations, pads, auto_pad"""
        kernel = self.ints(rank, 1, 4)
        strides = self.maybe(self.ints(rank, 1, 3))
        dilations = self.maybe(self.ints(rank, 1, 3), 0.4)
        pads = self.maybe(self.ints(2 * rank, 0, 3))
        auto_pad = self.maybe(self.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]), 0.25)
        return kernel, strides, dilations, (None if auto_pad else pads), auto_pad

    def conv(self):
        rank = self.random.randint(1, 3)
        groups = self.random.choice([1, 1, 2, 3])
        kernel, strides, dilations, pads, auto_pad = self.window(rank)
        if auto_pad and auto_pad != "VALID":
            dilations = None
        channels, filters = groups * self.random.randint(1, 3), groups * self.random.randint(1, 2)
        x = self.data(self.random.randint(1, 2), channels, *self.ints(rank, 7, 11))
        k = self.data(filters, channels // groups, *kernel)
        if not fits(x, kernel, dilations):
            dilations = None
        bias = self.maybe(self.data(filters))
        return Case("Conv", [x, k, bias], group=groups, strides=strides, dilations=dilations,
                    pads=pads, auto_pad=auto_pad, kernel_shape=self.maybe(kernel))

    def conv_transpose(self):
        rank = self.random.randint(1, 3)
        groups = self.random.choice([1, 1, 2])
        kernel, strides, dilations, pads, auto_pad = self.window(rank)
        if pads:
            pads = [min(pad, (side - 1) // 2) for pad, side in zip(pads, kernel + kernel)]
        channels, filters = groups * self.random.randint(1, 3), self.random.randint(1, 3)
        x = self.data(self.random.randint(1, 2), channels, *self.ints(rank, 2, 5))
        k = self.data(channels, filters, *kernel)
        bias = self.maybe(self.data(groups * filters))
        padding = strides and self.maybe([self.random.randint(0, s - 1) for s in strides])
        shape = None
        if self.random.random() < 0.25:
            padding, auto_pad, pads = None, auto_pad if auto_pad != "VALID" else None, None
            full = [s * (n - 1) + d * (side - 1) + 1 for s, n, d, side in zip(
                strides or [1] * rank, x.shape[2:], dilations or [1] * rank, kernel)]
            shape = [max(1, extent - self.random.randint(0, 2)) for extent in full]
        if auto_pad and dilations:
            dilations = None
        return Case("ConvTranspose", [x, k, bias], group=groups, strides=strides,
                    dilations=dilations, pads=pads, auto_pad=auto_pad, output_padding=padding,
                    output_shape=shape, reference_is_right=groups == 1 and not shape)

    def pool(self):
        op = self.random.choice(["MaxPool", "AveragePool"])
        rank = self.random.randint(1, 3)
        kernel, strides, dilations, pads, auto_pad = self.window(rank)
        if pads:
            pads = [min(pad, side - 1) for pad, side in zip(pads, kernel + kernel)]
        if auto_pad and auto_pad != "VALID":
            dilations = None
            # Where a stride is longer than its window, ONNX Runtime pads by a negative number.
            strides = strides and [min(stride, side) for stride, side in zip(strides, kernel)]
        x = self.data(self.random.randint(1, 2), self.random.randint(1, 3), *self.ints(rank, 7, 12))
        if not fits(x, kernel, dilations):
            dilations = None
        ceil_mode = self.maybe(1, 0.4) if not auto_pad else None
        extra = {}
        outputs = 1
        if op == "AveragePool":
            extra["count_include_pad"] = self.maybe(1)
        elif not auto_pad and not ceil_mode:
            outputs = self.random.choice([1, 2])
        return Case(op, [x], kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
                    auto_pad=auto_pad, ceil_mode=ceil_mode, outputs=outputs,
                    opset=19 if op == "AveragePool" else 12, reference_is_right=not ceil_mode,
                    **extra)

    def matrix_product(self):
        m, k, n = self.ints(3, 1, 6)
        batch = self.ints(self.random.randint(0, 2), 1, 3)
        left = [extent if self.random.random() < 0.7 else 1 for extent in batch]
        left = left[self.random.randint(0, len(left)):]
        a = self.random.choice([[k], left + [m, k]])
        b = self.random.choice([[k], batch + [k, n]])
        return Case("MatMul", [self.data(*a), self.data(*b)])

    def gemm(self):
        m, k, n = self.ints(3, 1, 7)
        trans_a, trans_b = self.ints(2, 0, 1)
        a = self.data(*([k, m] if trans_a else [m, k]))
        b = self.data(*([n, k] if trans_b else [k, n]))
        c = self.random.choice([None, [], [1], [n], [1, n], [m, 1], [m, n]])
        return Case("Gemm", [a, b, None if c is None else self.data(*c)], transA=trans_a,
                    transB=trans_b, alpha=self.maybe(0.75), beta=self.maybe(1.5))

    def binary(self):
        op = self.random.choice(["Add", "Sub", "Mul", "Div", "Less", "Greater", "Equal", "Pow"])
        shape = self.shape()
        left = [e if self.random.random() < 0.7 else 1 for e in shape]
        right = [e if self.random.random() < 0.7 else 1 for e in shape]
        a, b = self.data(*left[self.random.randint(0, len(left)):]), self.data(*right)
        if op == "Pow":
            a = np.abs(a)
        return Case(op, [a, b])

    def reduce(self):
        op = "Reduce" + self.random.choice(
            ["Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSumExp"])
        x = self.data(*self.shape(self.random.randint(1, 4)))
        rank = x.ndim
        axes = self.random.sample(range(rank), self.random.randint(1, rank))
        axes = self.maybe([axis - self.random.choice([0, rank]) for axis in axes], 0.8)
        keep = self.maybe(self.random.randint(0, 1))
        if op == "ReduceSum" or self.random.random() < 0.5:
            noop = self.maybe(1, 0.2) if axes is not None else None
            return Case(op, [x], [axes if axes is None else np.array(axes, np.int64)], opset=18,
                        keepdims=keep, noop_with_empty_axes=noop)
        return Case(op, [x], axes=axes, keepdims=keep)

    def softmax(self):
        x = self.data(*self.shape(self.random.randint(1, 4)))
        axis = self.maybe(self.random.randint(-x.ndim, x.ndim - 1))
        opset = self.random.choice([11, 13])
        if opset == 11 and axis is None and x.ndim < 2:
            axis = 0
        return Case(self.random.choice(["Softmax", "LogSoftmax"]), [x], axis=axis, opset=opset,
                    reference_is_right=opset == 13)

    def slice(self):
        x = self.data(*self.shape(self.random.randint(1, 4)))
        axes = self.random.sample(range(x.ndim), self.random.randint(1, x.ndim))
        starts, ends = self.ints(len(axes), -7, 7), self.ints(len(axes), -7, 7)
        steps = [self.random.choice([-3, -2, -1, 1, 2, 3]) for _ in axes]
        ends = [end if self.random.random() < 0.7 else np.sign(step) * (2**62)
                for end, step in zip(ends, steps)]
        constants = [np.array(v, np.int64) for v in (starts, ends, axes, steps)]
        return Case("Slice", [x], constants)

    def pad(self):
        mode = self.random.choice(["constant", "edge", "reflect", "wrap"])
        x = self.data(*self.ints(self.random.randint(1, 4), 4, 6))
        low = -2 if mode == "constant" else 0
        pads = np.array(self.ints(2 * x.ndim, low, 3), np.int64)
        value = self.maybe(np.float32(1.5)) if mode == "constant" else None
        return Case("Pad", [x], [pads, value], mode=mode, opset=19)

    def rearrange(self):
        kind = self.random.choice(["Reshape", "Transpose", "Flatten", "Concat", "Split", "Gather",
                                   "Tile", "Expand"])
        x = self.data(*self.shape(self.random.randint(1, 4)))
        if kind == "Reshape":
            factors = [self.random.choice([1, 2, 3]) for _ in range(4)]
            x = self.data(*factors, 4)
            shape = self.random.choice([[-1], [0, -1], [4, -1], [-1, 2, 2], [2, -1, 2], [0, 0, -1],
                                        [1, -1, 1]])
            return Case(kind, [x], [np.array(shape, np.int64)])
        if kind == "Transpose":
            return Case(kind, [x], perm=self.maybe(self.random.sample(range(x.ndim), x.ndim)))
        if kind == "Flatten":
            return Case(kind, [x], axis=self.random.randint(-x.ndim, x.ndim))
        axis = self.random.randint(-x.ndim, x.ndim - 1)
        if kind == "Concat":
            shapes = [list(x.shape) for _ in range(self.random.randint(1, 5))]
            for shape in shapes:
                shape[axis] = self.random.randint(0, 3)
            return Case(kind, [self.data(*shape) for shape in shapes], axis=axis)
        if kind == "Split":
            parts = self.ints(self.random.randint(1, 3), 0, 3)
            shape = list(x.shape)
            shape[axis] = sum(parts)
            return Case(kind, [self.data(*shape)], [np.array(parts, np.int64)], axis=axis,
                        outputs=len(parts))
        if kind == "Gather":
            extent = x.shape[axis]
            shape = self.shape(self.random.randint(0, 2))
            positions = np.array(self.numpy.integers(-extent, extent, shape), np.int64)
            return Case(kind, [x], [positions], axis=axis)
        if kind == "Tile":
            return Case(kind, [x], [np.array(self.ints(x.ndim, 0, 3), np.int64)])
        wanted = [extent if extent > 1 else self.random.randint(1, 3) for extent in x.shape]
        return Case(kind, [x], [np.array(self.ints(1, 1, 2) + wanted, np.int64)])

    def batch_normalization(self):
        x = self.data(*self.shape(self.random.randint(2, 5)))
        scale, bias, mean = (self.data(x.shape[1]) for _ in range(3))
        return Case("BatchNormalization", [x, scale, bias, mean, np.abs(scale) + np.float32(0.1)],
                    opset=self.random.choice([9, 15]), epsilon=self.maybe(1e-3))


MAKERS = [Maker.conv, Maker.conv_transpose, Maker.pool, Maker.matrix_product, Maker.gemm,
          Maker.binary, Maker.reduce, Maker.softmax, Maker.slice, Maker.pad, Maker.rearrange,
          Maker.batch_normalization]


def random_cases(seed, count):
    """Tuples of name, model, inputs, outputs, relative and absolute tolerance."""
    for i in range(count):
        make = MAKERS[i % len(MAKERS)]
        case = make(Maker(seed * 100003 + i))
        try:
            outputs = case.expected()
        except Exception:
            outputs = None
        if outputs is not None:
            yield f"random_{i}_{case.op}", case.model, case.inputs, outputs, 1e-4, 1e-5
