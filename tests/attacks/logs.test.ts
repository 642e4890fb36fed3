// Attacks on output (findings 10e and 11 of the review): the output of others in a store that is a folder, the agent's
// records beside the output, and a log of any apparent size.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startProgram } from "../harness/program.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const bob = useAccount("b");
/** Servers would be members of this group. */
const secured = useSecuredCluster({ agentArgs: ["--log-flush", "0.3", "--log-store-group", "adm"] });
const sh = (script: string) => ["/bin/sh", "-c", script];
const storeDir = (): string => join(dirname(secured.outputDir), "store");

const found = (folder: string, ...words: readonly string[]): readonly string[] =>
  execFileSync("find", [folder, ...words], { encoding: "utf8" })
    .trim()
    .split("\n")
    .filter(Boolean);

test("stored output is readable for root and one group only", async () => {
  const id = await secured.submit(bob, { command: sh("echo hush") });
  await secured.ends(id);
  await eventually({ what: "the output is stored" }, async () =>
    found(storeDir(), "-name", "chunk_*").length > 0 ? true : null,
  );
  expect(found(storeDir(), "-perm", "/o=rwx")).toEqual([]);
  expect(found(storeDir(), "-mindepth", "1", "!", "-group", "adm")).toEqual([]);
  expect(found(storeDir(), "-type", "f", "!", "-perm", "0640")).toEqual([]);
  for (const path of found(storeDir(), "-type", "f")) expect(() => mallory.run(`cat ${path}`)).toThrow();
});

test("a user reads no record of the agent in the folder of another's attempt", async () => {
  const id = await secured.submit(bob, { command: ["/bin/sleep", "600"] });
  await secured.reaches(id, ["running"]);
  const attempt = join(secured.cluster.dir, "agent-n1", "attempts", `${id}.1`);
  await eventually({ what: "the order is recorded" }, async () =>
    found(attempt, "-name", "order.json").length > 0 ? true : null,
  );
  expect(found(attempt, "-maxdepth", "1", "-name", "*.json", "-perm", "/go=rwx")).toEqual([]);
  for (const name of ["order.json", "holdings.json", "shipped.json", "times", "stdout"])
    expect(() => mallory.run(`cat ${join(attempt, name)}`)).toThrow();
  await secured.as(bob, ["cancel", id]);
  await secured.ends(id);
});

test("a log that claims 16 TB is answered at once and ships no zeros", async () => {
  const script = "import os, time; os.ftruncate(1, 1 << 43); os.write(1, b'end\\n'); time.sleep(600)";
  const id = await secured.submit(mallory, { command: ["python3", "-c", script] });
  await secured.reaches(id, ["running"]);
  const tail = async (): Promise<string> =>
    (await secured.as(mallory, ["logs", "--tail", "1", id])).stdout.replaceAll("\0", "");
  await eventually({ what: "the tail has its end" }, async () => ((await tail()).endsWith("end\n") ? true : null));
  await secured.as(mallory, ["cancel", id]);
  await secured.ends(id);
  await eventually({ what: "the rest is stored" }, async () => {
    const metadata = found(storeDir(), "-path", `*/${id}/logs/metadata/*`)[0];
    return metadata !== undefined && readFileSync(metadata, "utf8").includes('"complete":[{') ? true : null;
  });
  const chunks = found(storeDir(), "-path", `*/${id}/*`, "-name", "chunk_*");
  expect(chunks.length).toBeLessThan(40);
});

test("sixty readers of a sparse log by one user do not keep another from its output", async () => {
  const script = "import os, time; os.ftruncate(1, 1 << 43); os.write(1, b'end\\n'); time.sleep(600)";
  const make = ["admin", "vcluster", "create", "small", "--scheduler", "interactive-fifo", "--share-nodes"];
  expect(await secured.as("root", make, ["--scope", "admin"])).toMatchObject({ code: 0 });
  const part = { vcluster: "small", constraints: { cpu_cores: 1, memory_gb: 1 } };
  const sparse = await secured.submit(mallory, { command: ["python3", "-c", script], ...part });
  const plain = await secured.submit(bob, { command: sh("echo of-bob; exec sleep 600"), ...part });
  for (const id of [sparse, plain]) await secured.reaches(id, ["running"]);
  await eventually({ what: "bob's output" }, async () =>
    (await secured.logs(bob, plain)) === "of-bob\n" ? true : null,
  );
  const headers = { authorization: `Bearer ${await secured.token("--user", mallory.name, "--tenant", "default")}` };
  const readers = new AbortController();
  const address = `${secured.cluster.apiUrl}/api/v1/allocations/${sparse}/logs?tail=1000000&follow=true`;
  const reading = Array.from({ length: 60 }, () =>
    fetch(address, { headers, signal: readers.signal }).then(
      ({ status }) => status,
      () => 0,
    ),
  );
  const since = Date.now();
  for (let times = 0; times < 5; times += 1) expect(await secured.logs(bob, plain)).toBe("of-bob\n");
  expect(Date.now() - since).toBeLessThan(15_000);
  readers.abort();
  await Promise.all(reading);
  for (const [user, id] of [[mallory, sparse] as const, [bob, plain] as const]) {
    await secured.as(user, ["cancel", id]);
    await secured.ends(id);
  }
  expect(secured.agent().isRunning()).toBe(true);
});

test("an agent refuses a log store that every user can enter, unless the site accepts it", async () => {
  const open = join(secured.cluster.dir, "open-store");
  mkdirSync(open);
  chmodSync(open, 0o755);
  const logFile = join(secured.cluster.dir, "refused.log");
  const args = ["--node-id", "n2", "--server", secured.cluster.grpcAddress, "--log-store", open];
  const env = { LATTICE_AGENT_TOKEN: "none" };
  const data = ["--data-dir", join(secured.cluster.dir, "n2"), "--metrics-listen", "none"];
  const refused = startProgram("lattice-agent", { args: [...args, ...data], logFile, env });
  expect(await refused.ended).toBe(1);
  expect(readFileSync(logFile, "utf8")).toContain("is open to every user of this machine (mode 755)");
});
