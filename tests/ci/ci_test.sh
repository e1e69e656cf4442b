#!/usr/bin/env bash
# ci_test.sh PROGRAM SAMPLES: reads the workflows in samples/ci, checks that their parts fit, and runs
# their dmlop commands here, on a folder of cases that pass and on one with a case that fails.
set -euo pipefail
python3 -c 'import yaml' 2>/dev/null || {
  echo "SKIPPED: python3 cannot read YAML; install the package python3-yaml"
  exit 77
}
python3 - "$@" <<'TEXT'
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import yaml

program, samples = sys.argv[1:]


def read(name):
    with open(f"{samples}/ci/{name}") as file:
        return yaml.safe_load(file)


github = read("github.yml")
# YAML 1.1 reads the key "on" as true.
assert github.keys() == {"name", True, "permissions", "jobs"}
(job,) = github["jobs"].values()
steps = {step.get("name", step.get("uses")): step for step in job["steps"]}
assert list(steps)[0] == "actions/checkout@v4"
install = steps["Install dmlop"]
assert install["env"].keys() == {"DMLOP_PACKAGE"}
assert [line.split()[0] for line in install["run"].splitlines()] == ["curl", "sudo"]
keep = steps["Keep the reports"]
assert keep["if"] == "always()" and keep["with"]["path"] == "golden.*"

(gitlab,) = read("gitlab.yml").values()
assert gitlab["artifacts"]["when"] == "always"
assert gitlab["artifacts"]["paths"] == ["golden.html"]
assert gitlab["artifacts"]["reports"] == {"junit": "golden.xml"}
assert gitlab["before_script"][-1] == "apt-get install -y ./dmlop.deb"

commands = [steps["Run the golden cases"]["run"], *gitlab["script"]]
assert len(commands) == 2
for command in commands:
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/bin")
        os.symlink(program, f"{folder}/bin/dmlop")
        cases = ["padding", "gemm", "split", "attention_block"]
        for case in cases:
            shutil.copytree(f"{samples}/{case}", f"{folder}/cases/{case}")
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}

        def run():
            return subprocess.run(command, shell=True, cwd=folder, env=environment,
                                  capture_output=True, text=True)

        result = run()
        assert result.returncode == 0, result.stderr
        suites = xml.etree.ElementTree.parse(f"{folder}/golden.xml").getroot()
        assert suites.get("tests") == str(len(cases)) and suites.get("failures") == "0"
        assert os.path.getsize(f"{folder}/golden.html") > 1000
        description = f"{folder}/cases/padding/op.json"
        with open(description) as file:
            text = file.read()
        with open(description, "w") as file:
            file.write(text.replace('"PaddingValue": 9', '"PaddingValue": 8'))
        assert run().returncode == 1
        suites = xml.etree.ElementTree.parse(f"{folder}/golden.xml").getroot()
        assert suites.get("failures") == "1"

parallel = read("gitlab-parallel.yml")
assert parallel.keys() == {".dmlop", "golden", "golden-report"}
assert parallel[".dmlop"]["before_script"] == gitlab["before_script"]
assert parallel["golden-report"]["needs"] == ["golden"] and parallel["golden-report"]["when"] == "always"
nodes = parallel["golden"]["parallel"]
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(f"{folder}/bin")
    os.symlink(program, f"{folder}/bin/dmlop")
    cases = ["padding", "gemm", "split", "attention_block", "cast"]
    for case in cases:
        shutil.copytree(f"{samples}/{case}", f"{folder}/cases/{case}")

    def run_in(job, **variables):
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", **variables}
        (command,) = job["script"]
        return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)

    for node in range(1, nodes + 1):
        result = run_in(parallel["golden"], CI_NODE_INDEX=str(node), CI_NODE_TOTAL=str(nodes))
        assert result.returncode == 0, result.stderr
    result = run_in(parallel["golden-report"])
    assert result.returncode == 0, result.stderr
    suites = xml.etree.ElementTree.parse(f"{folder}/golden.xml").getroot()
    assert suites.get("tests") == str(len(cases)) and suites.get("failures") == "0"
    # The report of one node is missing.
    os.remove(f"{folder}/golden-2.jsonl")
    assert run_in(parallel["golden-report"]).returncode == 5
TEXT
