#!/usr/bin/env bash
# kubernetes_test.sh PROGRAM SAMPLES: reads samples/cluster/kubernetes.yaml, checks that its parts fit and
# runs each pod's command here; there is no cluster.
set -euo pipefail
python3 -c 'import yaml' 2>/dev/null || {
  echo "SKIPPED: python3 cannot read YAML; install the package python3-yaml"
  exit 77
}
python3 - "$@" <<'TEXT'
import glob
import subprocess
import sys
import tempfile
import yaml

program, samples = sys.argv[1:]
with open(f"{samples}/cluster/kubernetes.yaml") as file:
    job = yaml.safe_load(file)
spec = job["spec"]
pod = spec["template"]["spec"]
container = pod["containers"][0]
folders = {mount["mountPath"]: mount for mount in container["volumeMounts"]}

assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
assert spec["completionMode"] == "Indexed"
assert folders.keys() == {"/jobs", "/out"} and not folders["/out"].get("readOnly")
assert {mount["name"] for mount in folders.values()} == {volume["name"] for volume in pod["volumes"]}
# What podFailurePolicy asks for.
assert pod["restartPolicy"] == "Never"
assert spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["containerName"] == container["name"]

with tempfile.TemporaryDirectory() as out:
    here = {"/usr/local/bin/dmlop": program, "/jobs": samples, "/out": out}

    def word_here(word, index):
        word = word.replace("$(JOB_COMPLETION_INDEX)", str(index))
        for folder in here:
            if word == folder or word.startswith(folder + "/"):
                return here[folder] + word[len(folder):]
        return word

    for index in range(spec["completions"]):
        command = [word_here(word, index) for word in container["command"]]
        subprocess.run([*command, "--cpu"], check=True)
    merge = [program, "batch", "--merge", *sorted(glob.glob(f"{out}/*.jsonl"))]
    text = subprocess.run(merge, check=True, capture_output=True, text=True).stdout
    names = ("op.json", "model.json", "graph.json", "model.onnx")
    jobs = sum(len(glob.glob(f"{samples}/*/{name}")) for name in names)
    assert f": {jobs} PASSED" in text, text
TEXT
