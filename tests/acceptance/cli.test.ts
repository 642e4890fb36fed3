// The CLI as users see it: submit, status, logs, cancel, nodes, in every output format, and helpful errors.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { spawnCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });

test("submit prints an id that status and logs accept", async () => {
  const id = await submit(["--name=hello", "--", "echo", "a  b", "$HOME"]);
  await cluster.ends(id);
  const status = await cluster.cli(["status"]);
  expect(status.stdout).toMatch(/^ID\s+NAME\s+STATE\s+NODES/m);
  expect(status.stdout).toMatch(new RegExp(`^${id}\\s+hello\\s+Completed\\s+1`, "m"));
  const detail = await cluster.cli(["status", id]);
  expect(detail.stdout).toMatch(/^State:\s+Completed$/m);
  expect((await cluster.cli(["logs", id])).stdout).toBe("a  b $HOME\n");
});

test("status prints every format with equal content", async () => {
  const id = await submit(["--", "true"]);
  await cluster.ends(id);
  const json = JSON.parse((await cluster.cli(["status", id, "-o", "json"])).stdout) as Record<string, unknown>;
  const yaml = parse((await cluster.cli(["-o", "yaml", "status", id])).stdout) as Record<string, unknown>;
  expect(yaml).toEqual(json);
  expect(JSON.stringify(json)).toContain(`"id":"${id}"`);
  expect(JSON.stringify(json)).toContain('"state":"completed"');
  const table = (await cluster.cli(["status", "-o", "table"])).stdout;
  const wide = (await cluster.cli(["status", "-o", "wide"])).stdout;
  expect(wide.split("\n")[0]?.length ?? 0).toBeGreaterThan(table.split("\n")[0]?.length ?? 0);
  expect(wide).toMatch(/TENANT/);
});

test("nodes prints every format", async () => {
  const table = await cluster.cli(["nodes"]);
  expect(table.stdout).toMatch(/^NODE\s+STATE/m);
  expect(table.stdout).toMatch(/^node-1\s+Ready/m);
  for (const format of ["json", "yaml"]) {
    const { stdout, code } = await cluster.cli(["nodes", "-o", format]);
    expect(code).toBe(0);
    const parsed: unknown = format === "json" ? JSON.parse(stdout) : parse(stdout);
    expect(JSON.stringify(parsed)).toContain('"id":"node-2"');
  }
  expect((await cluster.cli(["nodes", "node-1", "-o", "wide"])).code).toBe(0);
});

test("a script runs with its #LATTICE lines", async () => {
  const script = [
    "#!/bin/bash",
    "#LATTICE --nodes=2",
    "#LATTICE walltime=00:10:00",
    "#LATTICE --name=from-script",
    'echo "$LATTICE_NNODES $BASH_VERSION $1"',
  ];
  const file = cluster.file("job.sh");
  writeFileSync(file, `${script.join("\n")}\n`);
  const id = await submit([file, "argument"]);
  const record = await cluster.ends(id);
  expect(record).toMatchObject({ state: "completed", spec: { name: "from-script" } });
  expect(record.nodes).toHaveLength(2);
  expect((await cluster.cli(["logs", id, `--node=${record.nodes?.[0]}`])).stdout).toMatch(/^2 \d\S+ argument\n$/);
});

test("a script runs with its #SBATCH lines, as it did under Slurm", async () => {
  const script = [
    "#!/bin/bash",
    "#SBATCH -N 2",
    "#SBATCH --time=0-00:10:00",
    "#SBATCH --job-name=from-slurm",
    "#SBATCH --mail-type=ALL",
    'echo "$SLURM_JOB_ID $SLURM_JOB_NUM_NODES"',
  ];
  const file = cluster.file("slurm.sh");
  writeFileSync(file, `${script.join("\n")}\n`);
  const result = await cluster.cli(["submit", file]);
  expect(result.code).toBe(0);
  expect(`${result.stdout}${result.stderr}`).toMatch(/mail-type/);
  const id = idIn(result.stdout);
  const record = await cluster.ends(id);
  expect(record).toMatchObject({ state: "completed", spec: { name: "from-slurm" } });
  expect((await cluster.cli(["logs", id, `--node=${record.nodes?.[0]}`])).stdout).toBe(`${id} 2\n`);
});

test("flags override the lines of a script", async () => {
  const file = cluster.file("flags.sh");
  writeFileSync(file, "#!/bin/sh\n#LATTICE --name=line\n#LATTICE --nodes=2\necho $LATTICE_NNODES\n");
  const id = await submit(["--nodes=1", "--name=flag", file]);
  expect(await cluster.ends(id)).toMatchObject({ state: "completed", spec: { name: "flag" } });
  expect((await cluster.cli(["logs", id])).stdout).toBe("1\n");
});

test("logs --follow shows output while it is written and ends with the job", async () => {
  const go = cluster.file("go");
  const id = await submit([
    "--",
    "sh",
    "-c",
    `echo one; until [ -e ${go} ]; do sleep 0.1; done; echo two >&2; echo three`,
  ]);
  const child = spawnCli(["logs", id, "--follow"], { env: cluster.cliEnvironment() });
  child.stdin.end();
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await eventually({ what: "its first line is shown" }, () => (text === "one\n" ? true : null));
  expect((await cluster.allocation(id)).state).toBe("running");
  writeFileSync(go, "");
  expect(await ended).toBe(0);
  expect(text).toBe("one\nthree\n");
});

test("cancel ends several allocations at once", async () => {
  const ids = [
    await submit(["--", "sleep", "600"]),
    await submit(["--", "sleep", "600"]),
    await submit(["--nodes=9", "--", "true"]),
  ];
  await cluster.reaches(ids[0] ?? "", ["running"]);
  const result = await cluster.cli(["cancel", ...ids]);
  expect(result.code).toBe(0);
  for (const id of ids) expect((await cluster.allocation(id)).state).toBe("cancelled");
});

test("a held allocation starts only after its release and shows the hold", async () => {
  const id = await submit(["--hold", "--name=held", "--", "true"]);
  expect((await cluster.cli(["why", id])).stdout).toContain("held by user");
  expect((await cluster.cli(["status", "--state=pending", "--reason=held_by_user"])).stdout).toContain("held");
  const running = await submit(["--", "sleep", "600"]);
  await cluster.reaches(running, ["running"]);
  const refused = await cluster.cli(["hold", running]);
  expect([refused.code === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining("only pending allocations can be held"),
  ]);
  expect((await cluster.cli(["cancel", running])).code).toBe(0);
  // A later submission has run meanwhile.
  const later = await submit(["--", "true"]);
  await cluster.reaches(later, ["completed"]);
  expect((await cluster.allocation(id)).state).toBe("pending");
  expect((await cluster.cli(["release", id])).stdout).toBe(`Released allocation ${id}\n`);
  await cluster.reaches(id, ["completed"]);
});

test("status filters by state and lists the caller's work by default", async () => {
  const id = await submit(["--nodes=9", "--name=waits", "--", "true"]);
  expect((await cluster.cli(["status", "--state=pending"])).stdout).toContain("waits");
  expect((await cluster.cli(["status", "--state=running"])).stdout).not.toContain("waits");
  expect((await cluster.cli(["status", "--all"])).stdout).toContain("waits");
  await cluster.cli(["cancel", id]);
});

test("errors name the cause and the next step", async () => {
  const unknown = await cluster.cli(["status", "999999"]);
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toMatch(/^Error: .*999999/m);
  expect(unknown.stderr).toMatch(/^\s*Hint: /m);
  expect(unknown.stdout).toBe("");

  const nowhere = await cluster.cli(["status"], { env: { LATTICE_API_URL: "http://127.0.0.1:1" } });
  expect(nowhere.code).not.toBe(0);
  expect(nowhere.stderr).toMatch(/Error: [\s\S]*Hint: /);

  const typo = await cluster.cli(["sumbit", "--", "true"]);
  expect(typo.code).not.toBe(0);
  expect(typo.stderr).toMatch(/submit/);

  const nothing = await cluster.cli(["submit"]);
  expect(nothing.code).not.toBe(0);
  expect(nothing.stderr).toMatch(/Error: /);
});

test("version and help need no server", async () => {
  const env = { LATTICE_API_URL: "http://127.0.0.1:1" };
  expect((await cluster.cli(["--version"], { env })).stdout).toMatch(/\d+\.\d+\.\d+/);
  const help = await cluster.cli(["--help"], { env });
  expect(help.code).toBe(0);
  for (const word of ["up", "submit", "status", "logs", "cancel", "nodes"]) expect(help.stdout).toContain(word);
  expect((await cluster.cli(["completion", "bash"], { env })).stdout).toContain("lattice");
});

async function submit(args: readonly string[]): Promise<string> {
  const result = await cluster.cli(["submit", ...args]);
  if (result.code !== 0) throw new Error(`submit ended with ${result.code}: ${result.stderr}`);
  return idIn(result.stdout);
}

function idIn(text: string): string {
  const id = /Submitted allocation (\d+)/.exec(text)?.[1];
  if (id === undefined) throw new Error(`no id in: ${text}`);
  return id;
}
