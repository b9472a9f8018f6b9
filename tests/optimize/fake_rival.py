"""A contestant that copies its first input to its output, or misbehaves: fake_rival.py [KIND]."""

import json
import os
import sys
import time


def main():
    kind = sys.argv[1] if len(sys.argv) > 1 else "good"
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"ok": True}
        if request["do"] == "quit":
            return
        if request["do"] == "load":
            file = request["inputs"][0]["file"]
            reply |= {"version": "1.2", "settings": "threads " + os.environ["OMP_PLACES"]}
            if kind == "absent":
                reply = {"ok": False, "absent": "fake is not installed"}
            if kind == "refuses":
                print("a library's grumbling", file=sys.stderr, flush=True)
                reply = {"ok": False, "error": "cannot read " + request["model"]}
        if request["do"] == "block":
            if kind == "crashes":
                print("about to crash", file=sys.stderr, flush=True)
                os.abort()
            if kind == "hangs":
                time.sleep(1000)
            if kind == "babbles":
                print("hello", flush=True)
                continue
            reply |= {"nanoseconds": [1000000, 2000000, 3000000]}
        if request["do"] == "run":
            into = os.path.join(request["into"], "y.npy")
            with open(file, "rb") as source, open(into, "wb") as target:
                target.write(source.read())
            reply |= {"outputs": [{"name": "y", "file": into}]}
        print(json.dumps(reply), flush=True)


main()
