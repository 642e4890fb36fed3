// Folders and data of jobs: output, scratch and homes, on nodes whose agent is root.
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { useCluster } from "../harness/use-cluster.ts";

const UID = 54331;
const folder = mkdtempSync("/var/tmp/lattice-data-");
chmodSync(folder, 0o755);
const [users, homes, work] = ["users", "homes", "work"].map((name) => join(folder, name)) as [string, string, string];
writeFileSync(users, `ada ${UID} ${UID}\n`);
mkdirSync(join(homes, "ada"), { recursive: true });
writeFileSync(join(homes, "ada", "notes"), "from home\n");
mkdirSync(work);
for (const path of [join(homes, "ada"), work]) chownSync(path, UID, UID);

const cluster = useCluster({
  nodes: 2,
  output: true,
  agentArgs: ["--user-mapping", `file:${users}`, "--allow-unauthenticated", "--home-source", `${homes}/{user}`],
});
chmodSync(cluster.dir, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

const ADA = { headers: { "x-lattice-user": "ada" } };

async function outputOf(body: object): Promise<string> {
  const id = await cluster.submit({ walltime: "5m", ...body }, ADA);
  const ended = await cluster.ends(id);
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "completed" });
  const { stdout } = await cluster.cli(["logs", id], { env: { LATTICE_USER: "ada" } });
  return stdout;
}

test("a document sets its own output and scratch folders", async () => {
  const entrypoint = 'echo done > $LATTICE_OUTPUT_DIR/result; echo "$LATTICE_OUTPUT"';
  const data = { output: `${work}/{tenant}/{allocation_id}/`, scratch_per_node: "1MB" };
  const printed = (await outputOf({ entrypoint, data })).trim();
  expect(printed.startsWith(`${work}/default/`)).toBe(true);
  expect(readFileSync(join(printed, "result"), "utf8")).toBe("done\n");
  expect(statSync(printed).uid).toBe(UID);
  expect(
    await outputOf({ entrypoint: "echo $LATTICE_OUTPUT", data: { output: "s3://{tenant}/{allocation_id}/" } }),
  ).toMatch(/^s3:\/\/default\/\d+\/$/m);
});

test("data defaults provide home, scratch and output, and the job starts in its home", async () => {
  const entrypoint = 'cat notes; pwd; [ -w "$LATTICE_SCRATCH" ] && [ -w "$LATTICE_OUTPUT_DIR" ] && echo all';
  expect(await outputOf({ entrypoint, data: { defaults: true } })).toBe("from home\n/home/ada\nall\n");
});

test("nodes with too little scratch are skipped, and the status names the reason when all are", async () => {
  const id = await cluster.submit({ entrypoint: "true", data: { scratch_per_node: "900TB" } }, ADA);
  const ended = await cluster.ends(id);
  expect(ended).toMatchObject({ state: "failed", reason: "prologue_failed" });
  expect(JSON.stringify(ended)).toContain("900000.0 GB of scratch requested");
});

test("invalid amounts and folders are refused and nothing is queued", async () => {
  const before = (await cluster.allocations()).length;
  for (const [flags, words] of [
    [["--scratch=plenty"], "--scratch: must be an amount such as 500GB"],
    [["--output-to=results"], "--output-to: must be an absolute path"],
  ] as const) {
    const refused = await cluster.cli(["submit", ...flags, "--", "true"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(words);
  }
  expect(await cluster.allocations()).toHaveLength(before);
});
