#!/usr/bin/env python3
"""Times one rival runtime on one ONNX model, in a process of its own.

    run_rival.py onnxruntime|openvino

Reads one JSON object per line from standard input and answers each with one on standard output:

    {"do": "load", "model": FILE, "threads": N, "cpus": [0, 1], "inputs": [{"name", "file"}]}
        -> {"ok": true, "version", "settings"}      inputs are .npy files, put in place once
    {"do": "block", "seconds": 0.3, "warm_seconds": 0.1}
        -> {"ok": true, "nanoseconds": [...]}       one figure per run; the warm-up is thrown away
    {"do": "run", "into": FOLDER}
        -> {"ok": true, "outputs": [{"name", "file"}]}
    {"do": "quit"}

What fails is answered with {"ok": false, "error": TEXT}; a runtime that is not installed with
{"ok": false, "absent": TEXT}. Whatever libraries print goes to standard error.

Timed is one inference from inputs that are in place to outputs that are in place: neither runtime
copies inputs or outputs inside the clock, and neither allocates outputs anew for each run.
"""

import gc
import json
import os
import sys
import time


class Absent(Exception):
    pass


def import_runtime(name):
    try:
        import numpy
    except ImportError as error:
        raise Absent(f"{name} needs numpy, which is not installed ({error})") from None
    try:
        return numpy, __import__(name)
    except ImportError as error:
        raise Absent(f"{name} is not installed ({error})") from None


def ordered_inputs(names, arrays):
    """The arrays in the order of the model's input names."""
    if missing := [name for name in names if name not in arrays]:
        raise ValueError(f"no value for input {', '.join(missing)}")
    return [arrays[name] for name in names]


class OnnxRuntime:
    """All optimizations, threads set, every thread on a core of its own, buffers bound."""

    def load(self, request):
        self.numpy, ort = import_runtime("onnxruntime")
        threads, cpus = request["threads"], request["cpus"]
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        if threads > 1:  # The caller's thread is the first; processors count from 1 here.
            affinities = ";".join(str(cpu + 1) for cpu in cpus[1:threads])
            options.add_session_config_entry("session.intra_op_thread_affinities", affinities)
        session = ort.InferenceSession(request["model"], options,
                                       providers=["CPUExecutionProvider"])
        os.sched_setaffinity(0, {cpus[0]})
        self.bind(ort, session, read_inputs(self.numpy, request))
        return {"version": ort.__version__,
                "settings": f"all optimizations, {threads} threads pinned, buffers bound"}

    def bind(self, ort, session, arrays):
        self.names = [output.name for output in session.get_outputs()]
        names = [value.name for value in session.get_inputs()]
        feeds = dict(zip(names, ordered_inputs(names, arrays)))
        self.binding = session.io_binding()
        self.kept = []
        for name, array in feeds.items():
            self.kept.append(ort.OrtValue.ortvalue_from_numpy(array))
            self.binding.bind_ortvalue_input(name, self.kept[-1])
        self.results = []
        for name, array in zip(self.names, session.run(None, feeds)):
            self.results.append(ort.OrtValue.ortvalue_from_numpy(array))
            self.binding.bind_ortvalue_output(name, self.results[-1])
        self.session = session

    def run_once(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.names, [value.numpy() for value in self.results]


class OpenVino:
    """Latency hint, float32 precision hint, threads set, pinning on, results shared."""

    def load(self, request):
        self.numpy, ov = import_runtime("openvino")
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": request["threads"],
            "ENABLE_CPU_PINNING": True,
        }
        model = ov.Core().compile_model(request["model"], "CPU", settings)
        self.request = model.create_infer_request()
        names = [value.any_name for value in model.inputs]
        self.kept = ordered_inputs(names, read_inputs(self.numpy, request))
        for index, array in enumerate(self.kept):
            tensor = ov.Tensor(array, shared_memory=True)
            self.request.set_input_tensor(index, tensor)
        self.names = [value.any_name for value in model.outputs]
        self.infer = self.request.infer
        return {"version": ov.__version__.split("-")[0],
                "settings": f"latency hint, f32 precision hint, {request['threads']} threads, "
                            "pinning on, buffers shared"}

    def run_once(self):
        self.infer(share_outputs=True)

    def outputs(self):
        return self.names, [self.request.get_output_tensor(index).data
                            for index in range(len(self.names))]


RUNTIMES = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


def read_inputs(numpy, request):
    return {value["name"]: numpy.ascontiguousarray(numpy.load(value["file"]))
            for value in request["inputs"]}


def time_block(run, seconds, warm_seconds):
    """Nanoseconds of each run; at least two, and as many as fill the block."""
    clock = time.perf_counter_ns
    start = clock()
    run()
    while clock() - start < warm_seconds * 1e9:
        run()
    times, end = [], clock() + seconds * 1e9
    gc.disable()
    while len(times) < 2 or clock() < end:
        before = clock()
        run()
        times.append(clock() - before)
    gc.enable()
    return times


def write_outputs(runtime, folder):
    runtime.run_once()
    listed = []
    for index, (name, array) in enumerate(zip(*runtime.outputs())):
        file = os.path.join(folder, f"output_{index}.npy")
        runtime.numpy.save(file, runtime.numpy.ascontiguousarray(array))
        listed.append({"name": name, "file": file})
    return listed


def answer(runtime, request):
    match request["do"]:
        case "load":
            return runtime.load(request)
        case "block":
            times = time_block(runtime.run_once, request["seconds"],
                               request.get("warm_seconds", 0.1))
            return {"nanoseconds": times}
        case "run":
            return {"outputs": write_outputs(runtime, request["into"])}
        case other:
            raise ValueError(f"unknown request '{other}'")


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in RUNTIMES:
        sys.exit(f"usage: run_rival.py {'|'.join(RUNTIMES)}")
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a library prints is no reply.
    runtime = RUNTIMES[sys.argv[1]]()
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "quit":
            return
        try:
            reply = {"ok": True, **answer(runtime, request)}
        except Absent as error:
            reply = {"ok": False, "absent": str(error)}
        except Exception as error:
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


main()
