// Output in an object store: a process that speaks S3, checks signatures and digests, and fails in every way. Nothing
// is lost or duplicated, and readers get an error meanwhile.
import { createHash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Fault, useObjectStore } from "../harness/object-store.ts";
import { startProgram, tailOf } from "../harness/program.ts";
import { request } from "../harness/rest.ts";
import { useCluster } from "../harness/use-cluster.ts";

const store = await useObjectStore("lattice-logs");
const { AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "", AWS_REGION } = store.environment;
const PLACE = "s3://lattice-logs/cluster-1";

const cluster = useCluster({
  nodes: 1,
  config: `node_agent:
  heartbeat_interval: 1s
logs:
  store: ${PLACE}
  s3:
    endpoint: ${store.url}
    region: ${AWS_REGION}
    access_key_id: env://STORE_KEY
    secret_access_key: env://STORE_SECRET
`,
  serverEnv: { STORE_KEY: AWS_ACCESS_KEY_ID, STORE_SECRET: AWS_SECRET_ACCESS_KEY },
  agentArgs: ["--log-store", PLACE, "--log-ring", "1", "--log-flush", "0.3"],
  agentEnv: store.environment,
});

/** All of it is in the store, and none on the node. */
async function onlyInTheStore(id: string): Promise<void> {
  const metadata = `lattice-logs/cluster-1/default/default/${id}/logs/metadata/node-1.json`;
  await eventually({ what: `all output of ${id} is stored` }, async () => {
    const text = await store.object(metadata);
    const { complete } = JSON.parse(text ?? '{"complete": []}') as { readonly complete: readonly unknown[] };
    return complete.length > 0 ? true : null;
  });
  const ended = join(cluster.dir, "agent-node-1", "ended", `${id}.1`);
  await eventually({ what: "the attempt is put away" }, () => (existsSync(ended) ? true : null));
  await eventually({ what: "its folder is gone for good" }, () => {
    try {
      rmSync(ended, { recursive: true, maxRetries: 9 });
    } catch {
      // The agent may still record its progress there.
    }
    return existsSync(ended) ? null : true;
  });
}

const LINES = 60_000;
const line = (n: number): string => `line ${String(n).padStart(8, "0")} ${"x".repeat(30)}\n`;
const printed = `seq -f 'line %08.0f ${"x".repeat(30)}' 1 ${LINES}`;
const whole = createHash("sha256");
for (let n = 1; n <= LINES; n += 1) whole.update(line(n));
const expected = whole.digest("hex");

test("output is stored in the documented layout and read from the object store", async () => {
  const id = await cluster.submit({ entrypoint: "echo to-stdout; echo to-stderr >&2" });
  await cluster.ends(id);
  await onlyInTheStore(id);
  const under = `lattice-logs/cluster-1/default/default/${id}/logs`;
  expect((await store.objects()).filter((key) => key.startsWith(under))).toEqual(
    ["metadata.json", "metadata/node-1.json", "stderr/node-1/chunk_000.log.zst", "stdout/node-1/chunk_000.log.zst"].map(
      (name) => `${under}/${name}`,
    ),
  );
  expect(await cluster.cli(["logs", id])).toMatchObject({ code: 0, stdout: "to-stdout\n", stderr: "to-stderr\n" });
});

test.each<[Fault, number]>([
  ["error", 1],
  ["cut", 1],
  ["half", 1],
  ["refuse", 1],
  ["slow", 2],
])("a store that fails by %s, %i times, loses nothing", async (how, times) => {
  await store.fail(times, how);
  const id = await cluster.submit({ entrypoint: printed });
  expect((await cluster.ends(id)).state).toBe("completed");
  await onlyInTheStore(id);
  const { code, stdout } = await cluster.cli(["logs", id, "--stdout"]);
  expect(code).toBe(0);
  expect(createHash("sha256").update(stdout).digest("hex")).toBe(expected);
});

test("an agent killed while the store is away uploads the rest later, without duplicates", async () => {
  await store.fail(1_000_000, "cut");
  const before = (await store.requests()).GET ?? 0;
  const id = await cluster.submit({ entrypoint: `${printed}; sleep 2; echo the end` });
  await cluster.reaches(id, ["running"]);
  await eventually({ what: "the store was tried" }, async () =>
    ((await store.requests()).GET ?? 0) > before ? true : null,
  );
  await cluster.agent("node-1").kill();
  cluster.startAgent("node-1");
  await cluster.ends(id);
  await store.fail(0, "error");
  await onlyInTheStore(id);
  const { stdout } = await cluster.cli(["logs", id, "--stdout"]);
  expect(stdout.endsWith("the end\n")).toBe(true);
  expect(createHash("sha256").update(stdout.slice(0, -"the end\n".length)).digest("hex")).toBe(expected);
});

test("metrics count output that waits for the store, up and down", async () => {
  const waiting = async () => {
    const { text } = await request(cluster.apiUrl, "GET", "/metrics");
    return Number(/^lattice_log_bytes_waiting (\d+)$/m.exec(text)?.[1]);
  };
  await store.fail(1_000_000, "error");
  const id = await cluster.submit({ entrypoint: printed });
  await cluster.ends(id);
  await eventually({ what: "something waits" }, async () => ((await waiting()) > 0 ? true : null));
  await store.fail(0, "error");
  await onlyInTheStore(id);
  await eventually({ what: "nothing waits" }, async () => ((await waiting()) === 0 ? true : null));
});

test("readers get an error while the store is away, never partial output", async () => {
  const id = await cluster.submit({ entrypoint: "echo kept" });
  await cluster.ends(id);
  await onlyInTheStore(id);
  await store.fail(1_000, "error");
  // A message if the store fails early; an answer that has started is cut off.
  const output = await eventually({ what: "the reader gets an error" }, async () => {
    const { code, stdout, stderr } = await cluster.cli(["logs", id]);
    const known = code === 0 || stdout !== "" || stderr.includes("the log store does not answer");
    return known ? { code, stdout } : null;
  });
  await store.fail(0, "error");
  expect(output.code).not.toBe(0);
  expect(output.stdout).toBe("");
  expect((await cluster.cli(["logs", id])).stdout).toBe("kept\n");
});

test("an agent without credentials for the store does not start and names them", async () => {
  const logFile = cluster.file("no-keys.log");
  const args = ["--node-id", "other", "--server", cluster.grpcAddress, "--data-dir", cluster.file("no-keys")];
  const agent = startProgram("lattice-agent", {
    args: [...args, "--log-store", PLACE],
    env: { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
    logFile,
  });
  expect(await agent.ended).not.toBe(0);
  expect(tailOf(logFile, 5)).toContain("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
});
