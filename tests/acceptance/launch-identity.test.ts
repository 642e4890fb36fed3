// Tasks in a cluster with tokens and fabric credentials: a job launches as its submitting user without a submitted
// token, other users' allocations are refused, and every launch has its own credentials.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFakeManager } from "../doubles/fabric.ts";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";
import { kill } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";

const secrets = mkdtempSync(join(tmpdir(), "lattice-test-secret-"));
const secretFile = join(secrets, "secret");
const fabric = await startFakeManager();
const config = `api: { oidc_hmac_secret: "file://${secretFile}" }\nfabric: { manager_url: "${fabric.url}" }\n`;
const cluster = new Cluster({ nodes: 0, config });
let agent: Program | null = null;

beforeAll(async () => {
  writeFileSync(secretFile, "this secret is long enough for the hash it keys\n", { mode: 0o600 });
  await cluster.startServer();
  agent = startProgram("lattice-agent", {
    args: ["--node-id", "n1", "--server", cluster.grpcAddress, "--data-dir", join(cluster.dir, "agent-n1")],
    logFile: join(cluster.dir, "agent-n1.log"),
    env: { LATTICE_AGENT_TOKEN: await token("--user", "n1", "--scope", "agent") },
  });
  const admin = { LATTICE_TOKEN: await token("--user", "root", "--scope", "admin") };
  await eventually({ what: "the node is ready" }, async () => {
    const { stdout } = await cluster.cli(["nodes", "-o", "json"], { env: admin });
    return stdout.includes('"ready"') ? true : null;
  });
});
afterAll(async () => {
  if (agent?.isRunning() === true) kill(agent.pid, "SIGKILL");
  await cluster.close();
  fabric.close();
  rmSync(secrets, { recursive: true, force: true, maxRetries: 9 });
});

async function token(...flags: string[]): Promise<string> {
  const words = ["admin", "token", "create", "--secret-file", secretFile, ...flags];
  const { code, stdout, stderr } = await cluster.cli(words);
  expect(code, stderr).toBe(0);
  return stdout.trim();
}

test("a launch inside a job acts as the submitting user", async () => {
  const ada = { LATTICE_TOKEN: await token("--user", "ada", "--tenant", "default") };
  const script = "lattice launch -n 1 sh -c 'echo a task of $LATTICE_USER'; lattice status -o json";
  const job = await cluster.cli(["submit", "--wait", "-q", "--", "sh", "-c", script], { env: ada });
  expect(job.code, job.stderr).toBe(0);
  const logs = await cluster.cli(["logs", job.stdout.trim().split("\n")[0] ?? ""], { env: ada });
  expect(logs.stdout).toContain("a task of ada");
});

test("a launch in another user's allocation or without a token is refused", async () => {
  const ada = { LATTICE_TOKEN: await token("--user", "ada", "--tenant", "default") };
  const bob = { LATTICE_TOKEN: await token("--user", "bob", "--tenant", "default") };
  const id = (await cluster.cli(["submit", "-q", "--", "/bin/sleep", "300"], { env: ada })).stdout.trim();
  const launch = ["launch", `--alloc=${id}`, "-n", "1", "echo", "mine"];
  expect(await cluster.cli(launch, { env: ada })).toMatchObject({ code: 0, stdout: "mine\n" });
  const refused = await cluster.cli(launch, { env: bob });
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("bob may not call TaskService.LaunchTasks");
  expect((await cluster.cli(launch)).code).toBe(4);

  const show = ["sh", "-c", 'echo "$FI_PROVIDER $FI_CXI_DEFAULT_VNI $FI_CXI_AUTH_KEY"'];
  const shown = await cluster.cli(["launch", `--alloc=${id}`, "-n", "1", ...show], { env: ada });
  expect(shown.stdout).toMatch(/^cxi 1234 c0ffee0\d\n$/);
  await eventually({ what: "credentials are taken back" }, async () =>
    (await fabric.seen()).services.length === 0 ? true : null,
  );
  // The native launcher leaves refusals to the full program, which asks again.
  await fabric.faults([{ call: "POST", times: 2, status: 403 }]);
  const without = await cluster.cli(launch, { env: ada });
  expect(without).toMatchObject({ stdout: "" });
  expect(without.stderr).toContain("The fabric manager gives no credentials: it answers 403");
  expect((await cluster.cli(["cancel", id], { env: ada })).code).toBe(0);
});
