// Tasks in a cluster with an identity provider: a batch script calls `srun` as usual. The cluster issues the job's
// token, which survives a server restart and a key rotation and is invalid once the job has ended or the key is
// dropped.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";
import { kill } from "../harness/processes.ts";
import { type Program, root as repository, startProgram } from "../harness/program.ts";
import { startProvider, type TestProvider } from "../harness/provider.ts";
import { runProgram } from "../harness/run-program.ts";

/** Number of valid earlier keys. */
const ROTATE = `
from lattice_sdk import SyncLatticeClient
with SyncLatticeClient() as client:
    print(*(len(client.rotate_job_key(request_id="once")["previous_keys"]) for _ in range(2)))
`;

let provider: TestProvider;
let cluster: Cluster;
let agent: Program | null = null;

beforeAll(async () => {
  provider = await startProvider(["ada", "n1", "root"]);
  cluster = new Cluster({ nodes: 0, config: `api: { oidc_issuer: "${provider.issuer}", oidc_client_id: lattice }\n` });
  await cluster.startServer();
  agent = startProgram("lattice-agent", {
    args: ["--node-id", "n1", "--server", cluster.grpcAddress, "--data-dir", join(cluster.dir, "agent-n1")],
    logFile: join(cluster.dir, "agent-n1.log"),
    env: { LATTICE_AGENT_TOKEN: await provider.token("n1", "agent") },
  });
  const admin = { LATTICE_TOKEN: await provider.token("root", "admin") };
  await nodeReady(admin);
  expect(await cluster.cli(["compat", "install", cluster.file("bin")])).toMatchObject({ code: 0 });
});
afterAll(async () => {
  if (agent?.isRunning() === true) kill(agent.pid, "SIGKILL");
  await cluster.close();
  provider.close();
});

const nodeReady = (env: Record<string, string>) =>
  eventually({ what: "the node is connected" }, async () =>
    /"connected": ?true/.test((await cluster.cli(["nodes", "-o", "json"], { env })).stdout) ? true : null,
  );

const ada = async () => ({ LATTICE_TOKEN: await provider.token("ada") });
const status = async (token: string, path = "/api/v1/allocations") =>
  (await fetch(`${cluster.apiUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;

test("srun inside a job acts as the job's user without a submitted token", async () => {
  const kept = cluster.file("token");
  const go = cluster.file("go");
  writeFileSync(
    cluster.file("job.sh"),
    [
      "#!/bin/bash",
      `#SBATCH -N 1 -t 10 -o ${cluster.file("job.out")}`,
      `printf %s "$LATTICE_TOKEN" > ${kept}`,
      "srun sh -c 'echo a task of $LATTICE_USER'",
      `until [ -e ${go} ]; do sleep 0.1; done`,
      "srun sh -c 'echo after the restart'",
      "lattice launch -n 1 echo by launch",
    ].join("\n"),
  );
  const env = { ...cluster.cliEnvironment(), ...(await ada()), PATH: `${cluster.file("bin")}:${process.env.PATH}` };
  const submitted = await runProgram(["sbatch", "--parsable", cluster.file("job.sh")], env);
  expect(submitted.code, submitted.err).toBe(0);
  const id = submitted.out.trim();
  const output = async () => (await cluster.cli(["logs", id], { env: await ada() })).stdout;
  await eventually({ what: "the first task" }, async () => ((await output()).includes("a task of ada") ? true : null));
  const token = readFileSync(kept, "utf8");
  expect(await status(token)).toBe(200);
  // The user's permissions without the user's grants.
  expect(await status(token, "/api/v1/admin/config")).toBe(403);

  // A new key signs from now on; earlier tokens stay valid, also after the restart.
  const root = { LATTICE_TOKEN: await provider.token("root", "admin") };
  expect(await cluster.cli(["admin", "job-key", "rotate"], { env: await ada() })).toMatchObject({ code: 4 });
  const rotated = await cluster.cli(["admin", "job-key", "rotate"], { env: root });
  expect([rotated.code, rotated.stdout]).toEqual([
    0,
    expect.stringMatching(/tokens of the old key are valid until 20/),
  ]);
  // Through the Python client: once, however often it is repeated with one id.
  const again = await runProgram(["/usr/bin/python3", "-B", "-c", ROTATE], {
    ...cluster.cliEnvironment(),
    ...root,
    PYTHONPATH: join(repository, "sdks/python"),
  });
  expect([again.code, again.out, again.err]).toEqual([0, "2 2\n", ""]);
  expect(await status(token)).toBe(200);

  kill(cluster.server.pid, "SIGKILL");
  await cluster.startServer();
  await nodeReady({ LATTICE_TOKEN: await provider.token("root", "admin") });
  expect(await status(token)).toBe(200);
  writeFileSync(go, "");
  await eventually({ what: "the job has ended" }, async () => {
    const { stdout } = await cluster.cli(["status", id, "-o", "json"], { env: await ada() });
    return /"(completed|failed)"/.test(stdout) ? true : null;
  });
  expect(await output()).toMatch(/after the restart[\s\S]*by launch/);
  expect(await status(token)).toBe(401);
  // Only the submitted fields are visible.
  const shown = await cluster.cli(["status", id, "-o", "json"], { env: await ada() });
  expect(shown.stdout).not.toContain(token);
});

test("a leaked job key is invalid after rotation, also for running jobs", async () => {
  const root = { LATTICE_TOKEN: await provider.token("root", "admin") };
  const tokenOf = async (name: string): Promise<{ id: string; token: string }> => {
    const script = `printf %s "$LATTICE_TOKEN" > ${cluster.file(name)}.new; mv ${cluster.file(name)}.new ${cluster.file(name)}; sleep 600`;
    const { stdout } = await cluster.cli(["submit", "-q", "--", "/bin/sh", "-c", script], { env: await ada() });
    const token = await eventually({ what: "the job has a token" }, async () =>
      readFileSync(cluster.file(name), "utf8"),
    );
    return { id: stdout.trim(), token };
  };
  const before = await tokenOf("before");
  expect(await status(before.token)).toBe(200);
  const unsure = await cluster.cli(["admin", "job-key", "rotate", "--keep=0"], { env: root });
  expect([unsure.code, unsure.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  const long = await cluster.cli(["admin", "job-key", "rotate", "--keep=31d"], { env: root });
  expect([long.code, long.stderr]).toEqual([2, expect.stringContaining("keep_seconds")]);
  expect(await status(before.token), "nothing has changed").toBe(200);
  expect(await cluster.cli(["admin", "job-key", "rotate", "--keep=0", "--yes"], { env: root })).toMatchObject({
    code: 0,
  });
  expect(await status(before.token)).toBe(401);
  const { stdout } = await cluster.cli(["status", before.id, "-o", "json"], { env: await ada() });
  expect(stdout, "the job continues").toContain('"running"');
  await cluster.cli(["cancel", before.id], { env: await ada() });
  const after = await tokenOf("after");
  expect(await status(after.token)).toBe(200);
  await cluster.cli(["cancel", after.id], { env: await ada() });
  const audit = await cluster.cli(["audit", "query", "-o", "json"], { env: root });
  expect(audit.stdout.match(/"secret\.rotate"/g)).toHaveLength(3);
  const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(metrics).toMatch(/^lattice_job_keys 1$/m);
});
