"""The tool on bad files, bad places and odd values: a clear error or the right answer, the exit
code that is documented, and no partial file. Usage: bad_inputs_test.py OLLIE"""

import os
import random
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OLLIE = os.path.abspath(sys.argv.pop(1))
DONE, USER_ERROR, UNSUPPORTED = 0, 1, 2
NOBODY = 65534


def model_of(nodes, shape=(1, 3, 6, 6), out=None, weights=()):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)],
        [numpy_helper.from_array(value, name) for name, value in weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolution(weight=None, batch=1):
    weight = np.ones((4, 3, 3, 3), np.float32) if weight is None else weight
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv_1", pads=[1, 1, 1, 1])
    return model_of([node], (batch, 3, 6, 6), (batch, len(weight), 6, 6), [("w", weight)])


class Cli(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.results = self.folder / "results"
        self.results.mkdir()
        self.output = self.results / "out.ollie"
        self.model = self.save(convolution())

    def tearDown(self):
        self.temporary.cleanup()

    def save(self, model, name="model.onnx"):
        path = self.folder / name
        path.write_bytes(model.SerializeToString())
        return path

    def environment(self):
        return {**os.environ, "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home)}

    def ollie(self, *arguments, **options):
        return subprocess.run(
            [OLLIE, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            env=self.environment(),
            **options,
        )

    def optimize(self, model=None, output=None, **options):
        return self.ollie(
            "optimize", model or self.model, "-o", output or self.output, "--no-measure", **options
        )

    def expect_error(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        self.assertTrue(result.stderr.startswith("ollie: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def expect_nothing_written(self):
        self.assertEqual(os.listdir(self.results), [])

    def compiled(self):
        result = self.optimize()
        self.assertEqual(result.returncode, DONE, result.stderr)
        return self.output.read_bytes()


class BadModels(Cli):
    def refused(self, model, code, *words):
        for command in (["optimize", model, "-o", self.output], ["emit", model, "graph"]):
            self.expect_error(self.ollie(*command), code, *words)
        self.expect_nothing_written()

    def test_missing(self):
        self.refused(self.folder / "none.onnx", USER_ERROR, "none.onnx")

    def test_folder_and_pipe(self):
        self.refused(self.results, USER_ERROR, "results")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.refused(pipe, USER_ERROR, "pipe")

    def test_empty(self):
        empty = self.folder / "empty.onnx"
        empty.write_bytes(b"")
        self.refused(empty, USER_ERROR, "empty.onnx")

    def test_truncated(self):
        whole = self.model.read_bytes()
        for part in (1, 2, 3, 5, 7):
            cut = self.folder / "cut.onnx"
            cut.write_bytes(whole[: len(whole) * part // 8])
            self.refused(cut, USER_ERROR, "cut.onnx")

    def test_not_a_protobuf(self):
        text = self.folder / "text.onnx"
        text.write_text("this is no model\n" * 40)
        self.refused(text, USER_ERROR, "text.onnx")

    def test_every_unknown_operator_is_listed(self):
        nodes = [
            helper.make_node("Frobnicate", ["x"], ["a"], name="first_one"),
            helper.make_node("Relu", ["a"], ["b"], name="known"),
            helper.make_node("Transmogrify", ["b"], ["y"], name="other_one"),
        ]
        words = ("first_one", "Frobnicate", "other_one", "Transmogrify")
        self.refused(self.save(model_of(nodes)), UNSUPPORTED, *words)

    def test_missing_input_of_a_node(self):
        node = helper.make_node("Add", ["x", "nowhere"], ["y"], name="adds")
        self.refused(self.save(model_of([node])), USER_ERROR, "adds", "nowhere")

    def test_wrong_shape(self):
        weight = np.ones((4, 5, 3, 3), np.float32)
        self.refused(self.save(convolution(weight)), USER_ERROR, "conv_1", "5", "3")

    def test_unknown_rule_names_the_known_ones(self):
        result = self.ollie("optimize", self.model, "-o", self.output, "--disable-rule", "spilt_sum")
        self.expect_error(result, USER_ERROR, "spilt_sum", "split_sum")
        self.expect_nothing_written()


class OddValues(Cli):
    def outputs(self, program, x):
        np.save(self.folder / "x.npy", x)
        target = self.folder / "outputs"
        result = self.ollie(
            "run", program, "--input", f"x={self.folder / 'x.npy'}", "--output-dir", target
        )
        self.assertEqual(result.returncode, DONE, result.stderr)
        return np.load(target / "y.npy")

    def expect_convolution(self, weight, batch):
        model = self.save(convolution(weight, batch))
        result = self.optimize(model)
        self.assertEqual(result.returncode, DONE, result.stderr)
        x = np.random.default_rng(1).standard_normal((batch, 3, 6, 6)).astype(np.float32)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        with np.errstate(invalid="ignore"):
            exact = np.einsum("nchwrs,fcrs->nfhw", windows.astype(np.float64), weight)
        actual = self.outputs(self.output, x)
        self.assertEqual(actual.shape, exact.shape)
        inside = np.s_[:, :, 1:-1, 1:-1]  # Padding is absence: NaN * 0 at the border may differ.
        np.testing.assert_allclose(actual[inside], exact[inside], rtol=1e-4, atol=1e-4)

    def test_nan_weights(self):
        weight = np.random.default_rng(2).standard_normal((4, 3, 3, 3)).astype(np.float32)
        weight[2, 1, 1, 1] = np.nan
        self.expect_convolution(weight, 1)

    def test_infinite_weights(self):
        weight = np.random.default_rng(3).standard_normal((4, 3, 3, 3)).astype(np.float32)
        weight[1, 0, 1, 1] = np.inf
        self.expect_convolution(weight, 1)

    def test_zero_size_input(self):
        self.expect_convolution(np.ones((4, 3, 3, 3), np.float32), 0)

    def test_run_wants_every_input_in_its_shape(self):
        np.save(self.folder / "x.npy", np.zeros((1, 3, 6, 7), np.float32))
        target = self.folder / "outputs"
        wrong = self.ollie(
            "run", self.model, "--input", f"x={self.folder / 'x.npy'}", "--output-dir", target
        )
        self.expect_error(wrong, USER_ERROR, "x", "7", "6")
        unknown = self.ollie(
            "run", self.model, "--input", f"z={self.folder / 'x.npy'}", "--output-dir", target
        )
        self.expect_error(unknown, USER_ERROR, "z")


class BadPlaces(Cli):
    def test_no_such_folder_and_a_folder(self):
        self.expect_error(self.optimize(output=self.results / "no" / "o.ollie"), USER_ERROR, "no")
        self.expect_error(self.optimize(output=self.results), USER_ERROR, "results")
        self.expect_nothing_written()

    def test_device_and_pipe_stay(self):
        self.expect_error(self.optimize(output="/dev/null"), USER_ERROR, "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        pipe = self.results / "pipe"
        os.mkfifo(pipe)
        self.expect_error(self.optimize(output=pipe), USER_ERROR, "pipe")
        self.assertEqual(os.listdir(self.results), ["pipe"])

    def test_the_model_is_not_overwritten(self):
        before = self.model.read_bytes()
        self.expect_error(self.optimize(output=self.model), USER_ERROR, "model.onnx")
        self.assertEqual(self.model.read_bytes(), before)

    @unittest.skipIf(os.geteuid() != 0, "needs to become another user")
    def test_read_only_folder(self):
        for folder in (self.folder, self.home):
            folder.chmod(0o777)
        self.results.chmod(0o555)
        began = time.monotonic()
        result = self.optimize(user=NOBODY, group=NOBODY, extra_groups=[])
        self.expect_error(result, USER_ERROR, "out.ollie", "ermission")
        self.assertLess(time.monotonic() - began, 5, "found out after the search")
        self.expect_nothing_written()

    @unittest.skipIf(os.geteuid() != 0, "needs to mount")
    def test_full_disk(self):
        mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(self.results)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("mounting is not allowed")
        try:
            self.expect_error(self.optimize(), USER_ERROR, "out.ollie", "No space left")
            self.expect_nothing_written()
        finally:
            subprocess.run(["umount", str(self.results)], check=True)

    def test_limit_on_file_size(self):
        # Weights that are larger than all that is written on the way.
        self.model = self.save(convolution(np.ones((2048, 3, 3, 3), np.float32)))
        old = self.compiled()
        most = len(old) - 1
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        result = self.ollie(
            "optimize", self.model, "-o", self.output, "--no-measure", preexec_fn=limit
        )
        self.expect_error(result, USER_ERROR, "out.ollie")
        self.assertEqual(self.output.read_bytes(), old)
        self.assertEqual(os.listdir(self.results), ["out.ollie"])

    def test_killed_at_any_time(self):
        old = self.compiled()
        began = time.monotonic()
        self.assertEqual(self.optimize().returncode, DONE)
        whole = time.monotonic() - began
        again = self.output.read_bytes()
        pick = random.Random(7)
        for _ in range(12):
            process = subprocess.Popen(
                [OLLIE, "optimize", self.model, "-o", self.output, "--no-measure"],
                env=self.environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(whole * pick.uniform(0.5, 1.1))
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertIn("out.ollie", os.listdir(self.results))
            self.assertIn(len(self.output.read_bytes()), (len(old), len(again)))
            self.assertEqual(self.ollie("explain", self.output).returncode, DONE)


class DamagedFiles(Cli):
    def expect_refused(self, data):
        damaged = self.folder / "damaged.ollie"
        damaged.write_bytes(data)
        for command in (["run", damaged, "--random", 1, "--output-dir", self.results],
                        ["explain", damaged], ["verify", self.model, damaged]):
            self.expect_error(self.ollie(*command), USER_ERROR, "damaged.ollie")
        self.expect_nothing_written()

    def test_truncated_and_flipped(self):
        good = self.compiled()
        self.output.unlink()
        for part in (8, 12, 100, len(good) // 2, len(good) - 1):
            self.expect_refused(good[:part])
        pick = random.Random(11)
        for _ in range(12):
            at = pick.randrange(8, len(good))
            self.expect_refused(good[:at] + bytes([good[at] ^ 1 << pick.randrange(8)]) + good[at + 1 :])
        self.expect_refused(good + b"more")


if __name__ == "__main__":
    unittest.main(verbosity=1)
