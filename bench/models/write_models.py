#!/usr/bin/env python3
"""Writes the models and single operators that are measured, as ONNX files.

    write_models.py FOLDER NAME [BATCH]    writes FOLDER/NAME_b<BATCH>.onnx and prints its path
    write_models.py FOLDER --all           models at batch 1 and 16, operators at their own batch
    write_models.py --list                 names, one a line, with the kind and the default batch

Weights are random with a fixed seed for each name, the same at every batch, and scaled by fan-in so
that values keep their size through the network. Nothing is downloaded.
"""

import argparse
import math
import pathlib
import zlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
IR_VERSION = 10


def tuple_of(value, rank):
    return [value] * rank if isinstance(value, int) else list(value)


class Network:
    """A chain of layers with one input x and one output y: each method adds nodes and returns the
    name of their result. Kernels, strides, ... are one number or one per spatial axis."""

    def __init__(self, name):
        self.name = name
        self.random = numpy.random.default_rng(zlib.crc32(name.encode()))
        self.nodes = []
        self.initializers = []

    def node(self, operator, inputs, **attributes):
        name = f"{operator.lower()}_{sum(node.op_type == operator for node in self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [f"{name}_out"], name, **attributes))
        return f"{name}_out"

    def constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, name, shape, deviation, mean=0.0):
        values = mean + deviation * self.random.standard_normal(shape)
        return self.constant(name, values.astype(numpy.float32))

    def uniform(self, name, shape, low, high):
        return self.constant(name, self.random.uniform(low, high, shape).astype(numpy.float32))

    def count(self, prefix):
        return sum(tensor.name.startswith(f"{prefix}.") and tensor.name.endswith(".weight")
                   for tensor in self.initializers)

    def conv(self, x, channels, features, kernel, rank=2, stride=1, pad=0, dilation=1, groups=1,
             bias=True, gain=1.0):
        """gain is the factor by which the variance of independent values grows."""
        kernel = tuple_of(kernel, rank)
        prefix = f"conv.{self.count('conv')}"
        fan_in = channels // groups * math.prod(kernel)
        inputs = [x, self.weight(f"{prefix}.weight", [features, channels // groups, *kernel],
                                 math.sqrt(gain / fan_in))]
        if bias:
            inputs.append(self.weight(f"{prefix}.bias", [features], 0.1))
        return self.node("Conv", inputs, kernel_shape=kernel, strides=tuple_of(stride, rank),
                         pads=tuple_of(pad, rank) * 2, dilations=tuple_of(dilation, rank),
                         group=groups)

    def conv_transpose(self, x, channels, features, kernel, rank=2, stride=1, pad=0,
                       output_pad=0, bias=True, gain=1.0):
        kernel = tuple_of(kernel, rank)
        stride = tuple_of(stride, rank)
        prefix = f"deconv.{self.count('deconv')}"
        # Each result is reached by about kernel / stride taps.
        fan_in = channels * math.prod(max(1.0, k / s) for k, s in zip(kernel, stride))
        inputs = [x, self.weight(f"{prefix}.weight", [channels, features, *kernel],
                                 math.sqrt(gain / fan_in))]
        if bias:
            inputs.append(self.weight(f"{prefix}.bias", [features], 0.1))
        return self.node("ConvTranspose", inputs, kernel_shape=kernel, strides=stride,
                         pads=tuple_of(pad, rank) * 2, output_padding=tuple_of(output_pad, rank))

    def batch_norm(self, x, channels, scale=1.0):
        prefix = f"norm.{self.count('norm')}"
        return self.node(
            "BatchNormalization",
            [x, self.uniform(f"{prefix}.weight", [channels], 0.8 * scale, 1.2 * scale),
             self.weight(f"{prefix}.bias", [channels], 0.1),
             self.weight(f"{prefix}.mean", [channels], 0.1),
             self.uniform(f"{prefix}.var", [channels], 0.6, 1.6)], epsilon=1e-5)

    def relu(self, x):
        return self.node("Relu", [x])

    def prelu(self, x, channels):
        prefix = f"prelu.{self.count('prelu')}"
        return self.node("PRelu", [x, self.uniform(f"{prefix}.weight", [channels, 1, 1], 0.1, 0.4)])

    def add(self, x, y):
        return self.node("Add", [x, y])

    def max_pool(self, x, kernel, stride, pad):
        return self.node("MaxPool", [x], kernel_shape=[kernel] * 2, strides=[stride] * 2,
                         pads=[pad] * 4)

    def spatial_mean(self, x):
        axes = self.constant("spatial_axes", numpy.array([2, 3], numpy.int64))
        return self.node("ReduceMean", [x, axes], keepdims=0)

    def linear(self, x, channels, features):
        prefix = f"linear.{self.count('linear')}"
        return self.node("Gemm", [x, self.weight(f"{prefix}.weight", [features, channels],
                                                 math.sqrt(1.0 / channels)),
                                  self.weight(f"{prefix}.bias", [features], 0.1)], transB=1)

    def model(self, input_shape):
        """The result of the last node becomes y; its shape is inferred."""
        self.nodes[-1].output[0] = "y"
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, input_shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], self.initializers)
        model = helper.make_model(graph, producer_name="write_models.py", ir_version=IR_VERSION,
                                  opset_imports=[helper.make_opsetid("", OPSET)])
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        model.graph.output[0].CopyFrom(inferred.graph.output[0])
        onnx.checker.check_model(model)
        return model


# Models: a function that adds the layers to a network.

def generator(net, x, channels, first_kernel):
    """Transposed convolutions, each but the first doubling the size."""
    for i, (before, after) in enumerate(zip(channels, channels[1:])):
        last = i == len(channels) - 2
        # The first sees a single point: one tap reaches each result.
        x = net.conv_transpose(x, before, after, 4 if i else first_kernel, stride=2 if i else 1,
                               pad=1 if i else 0, bias=False,
                               gain=(2.0 if i else first_kernel**2))
        if not last:
            x = net.relu(net.batch_norm(x, after))
    return net.node("Tanh", [x])


def infogan(net, x):
    return generator(net, x, [228, 448, 256, 128, 64, 3], 2)


def dcgan(net, x):
    return generator(net, x, [100, 512, 256, 128, 64, 3], 4)


def fsrcnn(net, x, features=56, inner=12, depth=4):
    x = net.prelu(net.conv(x, 1, features, 5, pad=2), features)
    x = net.prelu(net.conv(x, features, inner, 1, gain=1.9), inner)
    for _ in range(depth):
        x = net.conv(x, inner, inner, 3, pad=1)
    x = net.prelu(x, inner)
    x = net.prelu(net.conv(x, inner, features, 1, gain=1.9), features)
    return net.conv_transpose(x, features, 1, 9, stride=4, pad=3, output_pad=1, gain=1.9)


def srcnn(net, x):
    x = net.relu(net.conv(x, 1, 64, 9, pad=4))
    x = net.relu(net.conv(x, 64, 32, 5, pad=2, gain=2.0))
    return net.conv(x, 32, 1, 5, pad=2, gain=2.0)


def basic_block(net, x, channels, features, stride):
    """Two 3x3 convolutions beside a shortcut; the branch is scaled so that sums do not grow."""
    y = net.conv(x, channels, features, 3, stride=stride, pad=1, bias=False, gain=2.0)
    y = net.relu(net.batch_norm(y, features))
    y = net.conv(y, features, features, 3, pad=1, bias=False, gain=2.0)
    y = net.batch_norm(y, features, scale=0.5)
    if stride != 1 or channels != features:
        x = net.conv(x, channels, features, 1, stride=stride, bias=False)
        x = net.batch_norm(x, features, scale=0.8)
    return net.relu(net.add(y, x))


def resnet18(net, x):
    x = net.relu(net.batch_norm(net.conv(x, 3, 64, 7, stride=2, pad=3, bias=False), 64))
    x = net.max_pool(x, 3, 2, 1)
    channels = 64
    for features, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        x = basic_block(net, x, channels, features, stride)
        x = basic_block(net, x, features, features, 1)
        channels = features
    return net.linear(net.spatial_mean(x), 512, 1000)


def csrnet(net, x):
    channels = [512, 512, 512, 512, 256, 128, 64]
    for i, (before, after) in enumerate(zip(channels, channels[1:])):
        # The input is not rectified: its values have mean 0.
        x = net.relu(net.conv(x, before, after, 3, pad=2, dilation=2, bias=False,
                              gain=2.0 if i else 1.0))
    return x


# name: (layers, shape of x without the batch)
MODELS = {
    "infogan": (infogan, [228, 1, 1]),
    "dcgan": (dcgan, [100, 1, 1]),
    "fsrcnn": (fsrcnn, [1, 32, 32]),
    "srcnn": (srcnn, [1, 224, 224]),
    "resnet18": (resnet18, [3, 224, 224]),
    "csrnet": (csrnet, [512, 14, 14]),
}


# Single operators.

def conv3d(net, x):
    x = net.relu(net.conv(x, 1, 32, 3, rank=3, pad=1))
    return net.conv(x, 32, 64, 3, rank=3, pad=1, gain=2.0)


def conv(*arguments, **options):
    return lambda net, x: net.conv(x, *arguments, **options)


def conv_transpose(*arguments, **options):
    return lambda net, x: net.conv_transpose(x, *arguments, **options)


# name: (layers, shape of x with the batch that is measured)
OPERATORS = {
    "conv3x3_512_7": (conv(512, 512, 3, pad=1), [1, 512, 7, 7]),
    "convT_448_2": (conv_transpose(448, 256, 4, stride=2, pad=1, bias=False), [16, 448, 2, 2]),
    "conv5x5_32to1": (conv(32, 1, 5, pad=2), [16, 32, 224, 224]),
    "convT_fsrcnn": (conv_transpose(56, 1, 9, stride=4, pad=3, output_pad=1), [1, 56, 32, 32]),
    "istft": (conv_transpose(1026, 1, 1024, rank=1, stride=256, bias=False), [1, 1026, 224]),
    "istft_long": (conv_transpose(2049, 1, 4096, rank=1, stride=1024, bias=False), [1, 2049, 340]),
    "dw5_dilated": (conv(384, 384, 5, pad=4, dilation=2, groups=384), [1, 384, 28, 28]),
    "dw31": (conv(384, 384, 31, pad=15, groups=384), [1, 384, 32, 32]),
    "conv1d": (conv(30, 64, 3, rank=1, pad=1), [128, 30, 1000]),
    "conv1d_dilated": (conv(32, 32, 2, rank=1, dilation=64), [1, 32, 110250]),
    "conv3d": (conv3d, [1, 1, 40, 64, 64]),
    "convT2x2": (conv_transpose(2048, 256, 2, stride=2), [8, 2048, 7, 7]),
    "convT3d": (conv_transpose(50, 1, (28, 28, 1), rank=3, bias=False,
                               gain=28 * 28), [200, 50, 1, 1, 1]),
    "dw_multiplier2": (conv(64, 128, 7, pad=3, groups=64), [1, 64, 64, 64]),
}


def make(name, batch=None):
    """The model of that name; without a batch, at 1 for models and as measured for operators."""
    if name in MODELS:
        layers, shape = MODELS[name]
        shape = [batch or 1, *shape]
    else:
        layers, shape = OPERATORS[name]
        shape = [batch or shape[0], *shape[1:]]
    net = Network(name)
    layers(net, "x")
    return net.model(shape)


def write(folder, name, batch):
    model = make(name, batch)
    batch = model.graph.input[0].type.tensor_type.shape.dim[0].dim_value
    path = pathlib.Path(folder) / f"{name}_b{batch}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)
    print(path, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("name", nargs="?", choices=[*MODELS, *OPERATORS])
    parser.add_argument("batch", nargs="?", type=int)
    parser.add_argument("--all", action="store_true", help="every model and operator")
    parser.add_argument("--list", action="store_true", help="only print the names")
    arguments = parser.parse_args()
    if arguments.batch is not None and arguments.batch < 1:
        parser.error("the batch must be 1 at least")
    if arguments.list:
        for name in MODELS:
            print(name, "model", 1)
        for name, (_, shape) in OPERATORS.items():
            print(name, "operator", shape[0])
    elif arguments.folder and arguments.all and not arguments.name:
        for name in MODELS:
            for batch in (1, 16):
                write(arguments.folder, name, batch)
        for name in OPERATORS:
            write(arguments.folder, name, None)
    elif arguments.folder and arguments.name and not arguments.all:
        write(arguments.folder, arguments.name, arguments.batch)
    else:
        parser.error("give a folder with a name or --all, or --list")


if __name__ == "__main__":
    main()
