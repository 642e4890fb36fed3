// Directives of scripts: what they mean, where they count, what is warned about and what is refused.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SCRIPT_BYTES, normaliseSubmission, parseScript } from "../../src/index.ts";
import { fieldLines, refusal } from "../refusal.ts";

const script = (...lines: string[]) => ["#!/bin/bash", ...lines, "echo hi", ""].join("\n");
/** The directives, without the script itself. */
function printed(...lines: string[]) {
  const { submission, warnings } = parseScript(script(...lines));
  const { script: _text, slurm_env: _slurm, cpus_per_task: cpus, ...rest } = submission;
  return {
    ...rest,
    ...(cpus === undefined || cpus === 1 ? {} : { cpus_per_task: cpus }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

const API = { name: "api", port: 9090, protocol: "grpc" };
const PROBE = { probe_type: "http", port: 8080, path: "/up", period_secs: 5 };
const SCALED = { reactive: true, scale_policy: { min: 1, max: 8, metric: "queue", target: "80%" } };
const MOUNTS = [
  { source: "s3://b/set", target: "/data", access: "ro", credentials: "/k" },
  { source: "/a", target: "/b" },
];
const WORDS = { telemetry: "debug", constraints: { memory_policy: "bind" }, network_domain: "ring" };

describe("parseScript", () => {
  test.each<[string, object]>([
    ["--nodes=4", { nodes: 4 }],
    ["-N 4", { nodes: 4 }],
    ["-N4", { nodes: 4 }],
    ["--nodes 2-4", { nodes: { min: 2, max: 4 } }],
    ["--time=72:00:00", { walltime_seconds: 259_200 }],
    ["-t 30", { walltime_seconds: 1_800 }],
    ["-t 1-12", { walltime_seconds: 129_600 }],
    ["--time=24h", { walltime_seconds: 86_400 }],
    ["--partition=gpu -A physics -J train", { vcluster: "gpu", tenant: "physics", name: "train" }],
    ['--job-name="my job"', { name: "my job" }],
    ["--job-name 'it''s'", { name: "its" }],
    ["--job-name=a\\ b", { name: "a b" }],
    ["-C 'nvme&ib'", { constraints: { features: ["nvme", "ib"] } }],
    ["--constraint=GH200", { constraints: { features: ["GH200"] } }],
    ["--gres=gpu:4", { constraints: { gpu_count: 4 } }],
    ["--gres=gpu:gh200:4", { constraints: { gpu_type: "gh200", gpu_count: 4 } }],
    ["--gres=gpu", { constraints: { gpu_count: 1 } }],
    ["--gpus-per-node=a100:2", { constraints: { gpu_type: "a100", gpu_count: 2 } }],
    ["--exclusive", { exclusive: true }],
    ["--exclusive=user", { exclusive: true }],
    ["--mem-per-cpu=2G -c 4", { memory_gb_per_cpu: 2, cpus_per_task: 4 }],
    ["--mem-per-gpu=8G --gpus-per-node=2", { constraints: { gpu_count: 2, memory_gb: 16 } }],
    ["--mem=0", {}],
    ["--mem=2048", { constraints: { memory_gb: 2 } }],
    ["--mincpus=4 -O", { constraints: { cpu_cores: 4 }, overcommit: true }],
    ["-G 8", { total_gpus: 8 }],
    ["-n 4 --gpus-per-task=a100:2", { tasks: 4, total_gpus: 8, constraints: { gpu_type: "a100" } }],
    ["--ntasks=128 --ntasks-per-node=4", { tasks: 128, tasks_per_node: 4 }],
    ["-n 10 --ntasks-per-node=4", { tasks: 10, tasks_per_node: 4 }],
    ["--nodes=64 --ntasks=128 --ntasks-per-node=4", { nodes: 64, tasks: 128, tasks_per_node: 4 }],
    ["--nodes=2 --ntasks=7", { nodes: 2, tasks: 7 }],
    ["--qos=high", { preemption_class: 7 }],
    ["--uenv=prgenv-gnu/24.11:v1 --view=default", { uenv: "prgenv-gnu/24.11:v1", view: "default" }],
    ["--chdir=/work", { workdir: "/work" }],
    ["--requeue", { requeue_policy: "on_node_failure" }],
    ["--no-requeue", { requeue_policy: "never" }],
    [
      "-w n[01-03],x1 -x bad",
      { nodes: 4, constraints: { required_nodes: ["n01", "n02", "n03", "x1"], excluded_nodes: ["bad"] } },
    ],
    ["--export=A=1,B=2", { env: { A: "1", B: "2" } }],
    ["--nodes=4 # as many as last time", { nodes: 4 }],
    ["--mem=64G", { constraints: { memory_gb: 64 } }],
    [
      "--mail-user=user@example.com",
      { warnings: ["#SBATCH --mail-user=user@example.com ignored (use `lattice watch` for event notifications)"] },
    ],
    ["-c 8", { cpus_per_task: 8 }],
    ["--output=out.txt", { output_file: "out.txt" }],
    ["-e err.txt --open-mode=append", { output_file: "slurm-%j.out", error_file: "err.txt", output: { append: true } }],
    ["--wibble=3", { warnings: ["#SBATCH --wibble=3 ignored (Lattice has no equivalent)"] }],
    ["--constructor=3", { warnings: ["#SBATCH --constructor=3 ignored (Lattice has no equivalent)"] }],
    [
      "--qos=constructor",
      { warnings: ["#SBATCH --qos=constructor ignored (no preemption class is configured for this QoS)"] },
    ],
    ["--ntasks=3", { tasks: 3 }],
    [
      "--time=UNLIMITED",
      { warnings: ["#SBATCH --time=UNLIMITED ignored (every job has a limit; the default of its vCluster applies)"] },
    ],
    ["--gres=fpga:1", { warnings: ["#SBATCH --gres=fpga:1 ignored (use --constraint with a feature of the nodes)"] }],
  ])("#SBATCH %s", (line, expected) => {
    expect(printed(`#SBATCH ${line}`)).toEqual(expected);
    expect(() => normaliseSubmission(parseScript(script(`#SBATCH ${line}`)).submission)).not.toThrow();
  });

  test.each<[string, object]>([
    ["--nodes=4", { nodes: "4" }],
    ["nodes=4", { nodes: "4" }],
    ["--nodes 2-4 --walltime=72h", { nodes: "2-4", walltime: "72h" }],
    [
      "--vcluster=ml-training --tenant=physics --name=large-run",
      { vcluster: "ml-training", tenant: "physics", name: "large-run" },
    ],
    [
      '--constraint="gpu_type=GH200,gpu_count=4" --constraint=nvme',
      { constraints: { gpu_type: "GH200", gpu_count: 4, features: ["nvme"] } },
    ],
    ["--preemption-class=3 --max-requeue=0", { preemption_class: 3, max_requeue: 0 }],
    ["--class=3", { preemption_class: 3 }],
    ["--service", { service: true }],
    ["-N 4 --no-requeue", { nodes: "4", requeue: false }],
    ["--service --expose=8080 --expose=api:9090/grpc", { service: true, expose: [{ port: 8080 }, API] }],
    ["--probe=http:8080/up,period=5", { liveness_probe: PROBE }],
    ["--reactive --min-nodes=1 --max-nodes=8 --scale-metric=queue --scale-target=80%", SCALED],
    ["--checkpoint=grpc --checkpoint-port=9999", { checkpoint: { strategy: "grpc", port: 9999 } }],
    ["--data-mount=s3://b/set:/data:ro --data-mount=/a:/b --data-credentials=/k", { mounts: MOUNTS }],
    ["--telemetry=debug --memory-policy=bind --network-domain=ring", WORDS],
    ["--env=A=1 --env B=x=y --tag=k=v", { env: { A: "1", B: "x=y" }, tags: { k: "v" } }],
  ])("#LATTICE %s", (line, expected) => {
    expect(printed(`#LATTICE ${line}`)).toEqual(expected);
    expect(() => normaliseSubmission(parseScript(script(`#LATTICE ${line}`)).submission)).not.toThrow();
  });

  test("only lines before the first command count, and only in the first column", () => {
    const text =
      "#!/bin/sh\n\n# a comment\n  \n#SBATCH -N 2\n##SBATCH -N 3\n# #SBATCH -N 4\n #SBATCH -N 5\n#SBATCHES -N 6\nrun\n#SBATCH -N 7\n";
    const parsed = parseScript(text);
    expect(parsed.submission).toEqual({ nodes: 2, cpus_per_task: 1, script: text, slurm_env: true });
    expect(parsed.slurm).toBe(true);
    expect(parsed.warnings).toEqual(["line 11: #SBATCH -N 7 ignored (it is after the first command)"]);
  });

  test("many late directives are counted", () => {
    const { warnings } = parseScript(`run\n${"#LATTICE --nodes=2\n".repeat(8)}`);
    expect(warnings).toHaveLength(6);
    expect(warnings[5]).toBe("3 further directives after the first command ignored");
  });

  test.each<[string, string, number]>([
    ["the first line", "#!/bin/bash\r\necho hi\r\n", 1],
    ["a directive", "#!/bin/bash\n#LATTICE --nodes=2\r\necho hi\n", 2],
    ["a directive without options", "#!/bin/bash\n\n#SBATCH\r\necho hi\n", 3],
  ])("DOS line breaks in %s are refused, with the way to convert", async (_where, text, line) => {
    const { fields } = await refusal(() => parseScript(text));
    expect(fields).toEqual([
      {
        field: "script",
        detail: `has DOS line breaks (line ${line})`,
        hint: "Convert it: sed -i 's/\\r$//' FILE",
      },
    ]);
  });

  test("a carriage return elsewhere belongs to the script", () => {
    expect(parseScript("#!/bin/sh\nprintf 'a\r\n'\n").warnings).toEqual([]);
  });

  test("all bad directives are reported together, in line order", async () => {
    const problem = await refusal(() =>
      parseScript(script("#LATTICE --nodse=2", "#SBATCH --array=1,3x", "#SBATCH --job-name='x", "#LATTICE --env=A")),
    );
    expect(problem.code).toBe("invalid_argument");
    expect(fieldLines(problem).map((text) => text.replace(/ \|.*/, ""))).toEqual([
      "--nodse=2: is not a known option (line 2)",
      `--array=1,3x: "3x" is not an index (line 3)`,
      `script: has an open quote in "#SBATCH --job-name='x" (line 4)`,
      "--env=A: needs NAME=VALUE (line 5)",
    ]);
  });

  test("a script without directives is a script", () => {
    expect(parseScript("echo hi")).toEqual({
      submission: { script: "echo hi" },
      warnings: [],
      options: [],
      slurm: false,
    });
  });

  test("#LATTICE wins over #SBATCH", () => {
    expect(printed("#LATTICE --walltime=1h", "#SBATCH --time=2:00:00 --gres=gpu:4")).toEqual({
      walltime: "1h",
      constraints: { gpu_count: 4 },
    });
  });

  test("a site's own partitions, QoS and accounts", () => {
    const mapping = { partitions: { normal: "hpc-batch" }, qos: { gold: 9 }, accounts: { g123: "physics" } };
    const { submission } = parseScript(script("#SBATCH -p normal -q gold -A g123"), mapping);
    expect(submission).toMatchObject({ vcluster: "hpc-batch", preemption_class: 9, tenant: "physics" });
    expect(parseScript(script("#SBATCH --account=other"), mapping).submission).toMatchObject({ tenant: "other" });
  });

  test.each<[string, string, string[]]>([
    ["#SBATCH --constraint=a|b", "unsupported_feature", ["--constraint=a|b: only features joined by & are supported"]],
    ["#SBATCH --nodes=0", "invalid_argument", ["--nodes=0: needs a count or a range such as 2-4"]],
    ["#SBATCH --nodes=-4", "invalid_argument", ["--nodes=-4: needs a count or a range such as 2-4"]],
    ["#SBATCH --nodes", "invalid_argument", ["--nodes: needs a value"]],
    ["#SBATCH --ntasks=99999999999", "invalid_argument", ["--ntasks=99999999999: needs a whole number, 1 or more"]],
    [
      "#SBATCH --time=soon",
      "invalid_argument",
      ['--time=soon: is not a duration | Write it as minutes, "HH:MM:SS" or "D-HH:MM:SS".'],
    ],
    [
      "#SBATCH --gres=gpu:many:x",
      "invalid_argument",
      ["--gres=gpu:many:x: needs a number of GPUs, such as gpu:4 or gpu:gh200:4"],
    ],
    ["#SBATCH -w n[1-", "invalid_argument", ["-w n[1-: is not a list of nodes"]],
    ["#SBATCH --job-name='x", "invalid_argument", [`script: has an open quote in "#SBATCH --job-name='x"`]],
    [
      "#LATTICE --walltme=72h",
      "invalid_argument",
      ['--walltme=72h: is not a known option | Did you mean "--walltime"?'],
    ],
    ["#LATTICE --preemption-class=high", "invalid_argument", ["--preemption-class=high: needs a number"]],
    ["#LATTICE --env=A", "invalid_argument", ["--env=A: needs NAME=VALUE"]],
    ["#LATTICE --service=maybe", "invalid_argument", ["--service=maybe: is on or off and takes no other value"]],
    ["#LATTICE --nodes", "invalid_argument", ["--nodes: needs a value"]],
  ])("%s is refused", async (line, code, lines) => {
    const problem = await refusal(() => parseScript(script(line)));
    expect(problem.code).toBe(code);
    const here = (text: string) => text.replace(/( \| |$)/, " (line 2)$1");
    expect(fieldLines(problem)).toEqual(lines.map(here));
  });

  test.each([
    ["empty", " \n", "is empty"],
    ["with a NUL byte", "#!/bin/sh\necho \0", "contains a NUL byte in line 2"],
    ["too large", "é".repeat(MAX_SCRIPT_BYTES / 2 + 1), `is larger than ${MAX_SCRIPT_BYTES} bytes`],
  ])("a script that is %s is refused", async (_what, text, detail) => {
    expect((await refusal(() => parseScript(text))).fields).toMatchObject([{ field: "script", detail }]);
  });

  test("any directives are accepted or refused", () => {
    const line = fc
      .tuple(fc.constantFrom("#SBATCH ", "#LATTICE "), fc.string({ unit: "grapheme", maxLength: 40 }))
      .map((t) => t.join(""));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        try {
          parseScript(script(...lines));
        } catch (error) {
          expect(error).toHaveProperty("problem.status", 400);
        }
      }),
      { numRuns: 300 },
    );
  });
});
