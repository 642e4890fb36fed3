// Submissions built from commands, scripts with directives, and documents.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LATTICE_OPTIONS, normaliseSubmission, ProblemError } from "@lattice/wire";
import { Command } from "commander";
import { afterAll, describe, expect, test } from "vitest";
import { addSubmitFlags, flagsToShortForm, type ShortForm } from "../src/commands/submit/flags.ts";
import { fromDocument, fromScript, fromWords } from "../src/commands/submit/source.ts";
import { buildSubmission, mergeDocument, placedDocument } from "../src/commands/submit.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-submit-"));
afterAll(() => rmSync(dir, { recursive: true, maxRetries: 9 }));

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

function parse(...args: string[]): ShortForm {
  const command = addSubmitFlags(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.argument("[words...]").parse(args, { from: "user" });
  return flagsToShortForm(command.opts(), (flag) => command.getOptionValueSource(flag) === "cli");
}

test.each<[string[], object]>([
  [["--cpus=4", "--mem=64G"], { cpu_cores: 4, memory_gb: 64 }],
  [["--mem=512M"], { memory_gb: 0.5 }],
  [["--mem", "1.5TB"], { memory_gb: 1536 }],
  [["--gpus=2", "--gpu-type=A100"], { gpu_count: 2, gpu_type: "A100" }],
  [["--gpus=H100:4"], { gpu_count: 4, gpu_type: "H100" }],
])("%j ask for resources of each node", (flags, form) => {
  expect(parse(...flags)).toEqual(form);
});

test.each([["--mem=64"], ["--mem=lots"], ["--gpus=many"], ["--cpus=0"]])("%s is refused", (flag) => {
  expect(() => parse(flag)).toThrow(/has no unit: write 64G or 64M|not an amount|not a number of GPUs|from 1/);
});

test("resources are read from #LATTICE lines as well", () => {
  const script = "#!/bin/sh\n#LATTICE --cpus=4 --mem=8G\n#LATTICE --gpus=H100:2\ntrue\n";
  const { form } = fromScript(file("resources.sh", script), []);
  expect(form).toMatchObject({ constraints: { cpu_cores: 4, memory_gb: 8, gpu_count: 2, gpu_type: "H100" } });
});

const nowhere = { tenant: undefined, vcluster: undefined, uenv: undefined };

describe("flags", () => {
  test("absent flags set no field", () => {
    expect(parse()).toEqual({});
  });

  test.each<[string[], object]>([
    [["--nodes=4"], { nodes: "4" }],
    [["-N", "2-8"], { nodes: "2-8" }],
    [["--walltime=72h", "--name", "x"], { walltime: "72h", name: "x" }],
    [["--constraint=gpu_type:GH200", "--constraint", "nvme"], { constraint: ["gpu_type:GH200", "nvme"] }],
    [["--preemption-class=8"], { preemption_class: 8 }],
    [["--class=8"], { preemption_class: 8 }],
    [["--preemption-class=many"], { preemption_class: "many" }],
    [["--priority=high"], { priority: "high" }],
    [["--priority=3"], { preemption_class: 3 }],
    [["--env", "A=1", "--env", "B=x=y"], { env: { A: "1", B: "x=y" } }],
    [["--tag", "k=v"], { tags: { k: "v" } }],
    [["--requeue"], { requeue: true }],
    [["--no-requeue"], { requeue: false }],
    [["--service"], { service: true }],
    [["--no-preempt"], { no_preempt: true }],
    [["--uenv=prgenv-gnu/24.11:v1", "--view=default"], { uenv: "prgenv-gnu/24.11:v1", view: "default" }],
    [["--task-group=0-99%20"], { task_group: "0-99%20" }],
    [["--depends-on=1:success"], { depends_on: ["1:success"] }],
    [["--data-mount=s3://b/d:/data"], { mounts: [{ source: "s3://b/d", target: "/data" }] }],
    [
      ["--data-mount=s3://b/d:/data", "--data-mount=/a:/input", "--data-credentials=/home/ada/keys"],
      {
        mounts: [
          { source: "s3://b/d", target: "/data", credentials: "/home/ada/keys" },
          { source: "/a", target: "/input" },
        ],
      },
    ],
    [
      ["--output-to=s3://b/{allocation_id}/", "--scratch=500GB", "--data-defaults"],
      { output_to: "s3://b/{allocation_id}/", scratch_per_node: "500GB", data_defaults: true },
    ],
    [["--expose=8080", "--expose=metrics:9090"], { expose: [{ port: 8080 }, { name: "metrics", port: 9090 }] }],
    [
      ["--expose=8080/http", "--expose=api:9090/grpc"],
      {
        expose: [
          { port: 8080, protocol: "http" },
          { name: "api", port: 9090, protocol: "grpc" },
        ],
      },
    ],
    [["--requeue-policy=always"], { requeue_policy: "always" }],
    [
      ["--reactive", "--min-nodes=1", "--scale-target=0.8"],
      { reactive: true, scale_policy: { min: 1, target: "0.8" } },
    ],
  ])("%j", (args, form) => {
    expect(parse(...args)).toEqual(form);
  });

  test("a pair needs its equals sign", () => {
    expect(() => parse("--env", "A")).toThrow(/key=value/);
  });
});

describe("words and scripts", () => {
  test("a command is named after its first word", () => {
    const body = buildSubmission(fromWords(["/usr/bin/env", "-i", "sh"]), {}, nowhere, "/work");
    expect(body).toEqual({ name: "env", workdir: "/work", command: ["/usr/bin/env", "-i", "sh"] });
  });

  test("flags win over directives, directives over the configuration", () => {
    const path = file("job.sh", "#!/bin/sh\n#LATTICE --nodes=64 --walltime=72h\n#LATTICE --name=big\necho hi\n");
    const settings = { ...nowhere, tenant: "physics" };
    const body = buildSubmission(fromScript(path, []), parse("--nodes=2"), settings, "/work");
    expect(normaliseSubmission(body).request).toMatchObject({
      allocation: {
        name: "big",
        tenant: "physics",
        environment: { workdir: "/work" },
        resources: { nodes: { min: 2, max: 2 } },
        lifecycle: { walltime_seconds: 259_200 },
      },
    });
  });

  test("unsupported Slurm directives are warned about", () => {
    const path = file("slurm.sh", "#!/bin/bash\n#SBATCH --nodes=3\n#SBATCH --wckey=x\nhostname\n");
    const source = fromScript(path, []);
    expect(source.warnings).toHaveLength(1);
    expect(source.warnings[0]).toContain("--wckey=x ignored");
    expect(source.form).toMatchObject({ slurm_env: true });
    expect(source.defaultName).toBe("slurm.sh");
  });

  test("arguments of a shell script become its parameters", () => {
    const path = file("args.sh", "#!/bin/bash\necho $1\n");
    const { form } = fromScript(path, ["it's", "$HOME"]);
    expect(form.script).toBe("#!/bin/bash\nset -- 'it'\\''s' '$HOME'\necho $1\n");
  });

  test("arguments of a non-shell script are refused with a hint", () => {
    const path = file("x.py", "#!/usr/bin/env python3\nprint(1)\n");
    expect(() => fromScript(path, ["a"])).toThrow(/only shell scripts/);
    expect(fromScript(path, []).form.script).toContain("print(1)");
  });

  test.each([
    ["absent", () => fromScript(join(dir, "absent.sh"), []), "does not exist"],
    ["a directory", () => fromScript(dir, []), "is a directory"],
    ["holding NUL", () => fromScript(file("nul.sh", "#!/bin/sh\necho \0\n"), []), "NUL byte in line 2"],
    ["empty", () => fromScript(file("empty.sh", ""), []), "empty"],
    ["words with NUL", () => fromWords(["a\0b"]), "NUL byte"],
  ])("a script that is %s is refused", (_name, act, detail) => {
    expect(act).toThrow(ProblemError);
    expect(act).toThrow(detail);
  });

  test("a relative working directory starts at the current one", () => {
    expect(buildSubmission(fromWords(["true"]), { workdir: "sub" }, nowhere, "/home/ada")).toMatchObject({
      workdir: "/home/ada/sub",
    });
  });
});

describe("documents", () => {
  test("YAML and JSON documents are read in both forms", async () => {
    const yaml = file("a.yaml", "entrypoint: hostname\nnodes: 2\n");
    const json = file("a.json", '{"allocation": {"entrypoint": "hostname"}}');
    expect(mergeDocument(await fromDocument(yaml), { nodes: "3" })).toMatchObject({
      entrypoint: "hostname",
      nodes: "3",
    });
    expect(mergeDocument(await fromDocument(json), {})).toEqual({ allocation: { entrypoint: "hostname" } });
  });

  test("flags with a full-form document are refused", async () => {
    const json = file("b.json", '{"allocation": {"entrypoint": "hostname"}}');
    expect(() => mergeDocument({ allocation: {} }, { nodes: "3" })).toThrow(/nodes/);
    await expect(fromDocument(file("c.yaml", "a: [b"))).rejects.toThrow(/neither YAML nor JSON/);
    await expect(fromDocument(file("d.yaml", "- a"))).rejects.toThrow(/object/);
    expect(await fromDocument(json)).toBeDefined();
  });
});

test("every submission flag works as a directive", () => {
  const flags = addSubmitFlags(new Command()).options.flatMap(({ long }) => (long === undefined ? [] : [long]));
  const unknown = flags.filter((flag) => !LATTICE_OPTIONS.has(flag.slice(2).replaceAll("-", "_")));
  expect(unknown, "add it to directives/lattice.ts").toEqual([]);
});

test.each<[string, object, object]>([
  ["short", { entrypoint: "./serve.sh" }, { entrypoint: "./serve.sh", workdir: "/here" }],
  ["relative", { entrypoint: "x", workdir: "below" }, { entrypoint: "x", workdir: "/here/below" }],
  ["of a container", { entrypoint: "x", image: "a" }, { entrypoint: "x", image: "a" }],
  [
    "full",
    { allocation: { entrypoint: "x", environment: { uenv: "a" } } },
    { allocation: { entrypoint: "x", environment: { uenv: "a", workdir: "/here" } } },
  ],
])("work of a document (%s) starts in the current directory", (_, document, placed) => {
  expect(placedDocument(document as never, "/here")).toEqual(placed);
});
