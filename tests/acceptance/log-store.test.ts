// Output in a store: nothing is lost at the end of a job, while the store or the server is away, or across an agent
// restart; the node keeps only the newest part; and a follower survives a server restart.
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { spawnCli } from "../harness/cli.ts";
import { eventually, sleep } from "../harness/eventually.ts";
import { residentBytes } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

const STORE = mkdtempSync(join(tmpdir(), "lattice-log-store-"));
const RING_MB = 4;
/** Far less than the job prints, which is less than 16 times as much. */
const BUFFER_MB = 8;

const cluster = useCluster({
  nodes: 1,
  config: `logs:\n  store: ${STORE}\n`,
  agentArgs: [
    ...["--log-store", STORE, "--log-flush", "0.5"],
    ...["--log-ring", String(RING_MB), "--log-buffer", String(BUFFER_MB)],
  ],
});
afterAll(() => rmSync(STORE, { recursive: true, force: true, maxRetries: 9 }));

const folder = (id: string): string => join(STORE, "default", "default", id, "logs");
const onNode = (id: string, name: string): string => {
  const places = ["attempts", "ended"].map((place) => join(cluster.dir, "agent-node-1", place, `${id}.1`, name));
  return places.find((path) => existsSync(path)) ?? "";
};

interface Stored {
  readonly complete: readonly { readonly attempt: number; readonly stdout: number }[];
  readonly chunks: readonly { readonly stream: string; readonly start: number; readonly end: number }[];
  readonly dropped: number;
}

const stored = (id: string): Promise<Stored> =>
  eventually({ what: `all output of ${id} is stored` }, () => {
    const text = JSON.parse(readFileSync(join(folder(id), "metadata", "node-1.json"), "utf8")) as Stored;
    return text.complete.length > 0 ? text : null;
  });

function readAll(id: string, ...flags: string[]) {
  const child = spawnCli(["logs", id, ...flags], { env: cluster.cliEnvironment() });
  child.stdin.end();
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const hash = createHash("sha256");
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  const all = new Promise<{ bytes: number; hash: string; code: number; errors: string }>((resolve) =>
    child.once("close", (status) => resolve({ bytes, hash: hash.digest("hex"), code: status ?? -1, errors })),
  );
  return { all, bytes: () => bytes };
}

/** The agent may be writing there: try again. */
const removed = (path: string): Promise<true> =>
  eventually({ what: `${path} is gone` }, () => {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 9 });
      return true;
    } catch {
      return null;
    }
  });

test("output is stored in the documented layout and read from the store when the node has none", async () => {
  const id = await cluster.submit({ entrypoint: "echo to-stdout; echo to-stderr >&2" });
  await cluster.ends(id);
  await stored(id);
  expect(JSON.parse(readFileSync(join(folder(id), "metadata.json"), "utf8"))).toMatchObject({
    allocation: id,
    nodes: ["node-1"],
    ranges: { "node-1": "metadata/node-1.json" },
  });
  expect(readdirSync(join(folder(id), "stdout", "node-1"))).toEqual(["chunk_000.log.zst"]);
  // It moves there once its end is acknowledged.
  const ended = join(cluster.dir, "agent-node-1", "ended", `${id}.1`);
  await eventually({ what: "the attempt is put away" }, () => (existsSync(ended) ? true : null));
  await removed(ended);
  expect(await cluster.cli(["logs", id])).toMatchObject({ code: 0, stdout: "to-stdout\n", stderr: "to-stderr\n" });
  expect((await cluster.cli(["logs", id, "--tail=1"])).stdout).toBe("to-stdout\n");
});

test("with much output the node keeps the newest part, the store everything, and the agent's memory stays bounded", async () => {
  const lines = 1_600_000;
  const id = await cluster.submit({ entrypoint: `seq -f 'line %012.0f of the output of this job' 1 ${lines}` });
  const following = readAll(id, "-f");
  let most = 0;
  const sample = setInterval(() => {
    most = Math.max(most, residentBytes(cluster.agent("node-1").pid));
  }, 50);
  await cluster.ends(id);
  const metadata = await stored(id);
  clearInterval(sample);
  const size = metadata.complete[0]?.stdout ?? 0;
  expect(await eventually({ what: "its size" }, () => statSync(onNode(id, "stdout")).size)).toBe(size);
  expect(metadata.dropped).toBe(0);
  await eventually({ what: "the node keeps the newest part alone" }, () =>
    statSync(onNode(id, "stdout")).blocks * 512 <= 3 * RING_MB * 1024 ** 2 ? true : null,
  );
  expect(most).toBeLessThan(120 * 1024 ** 2);

  const hash = createHash("sha256");
  for (let n = 1; n <= lines; n += 1) hash.update(`line ${String(n).padStart(12, "0")} of the output of this job\n`);
  const all = { bytes: size, hash: hash.digest("hex"), code: 0, errors: "" };
  expect(await following.all).toEqual(all);
  expect(await readAll(id).all).toEqual(all);
  const tail = await cluster.cli(["logs", id, "--tail=2"]);
  expect(tail.stdout).toBe(
    [lines - 1, lines].map((n) => `line ${String(n).padStart(12, "0")} of the output of this job\n`).join(""),
  );
  const part = await cluster.cli(["logs", id, "--stdout", "--offset=44", "--limit=44"]);
  expect(part.stdout).toBe("line 000000000002 of the output of this job\n");
});

test("output waits while the store is away, across an agent restart, and none is lost", async () => {
  const away = `${STORE}.away`;
  renameSync(STORE, away);
  writeFileSync(STORE, "not a folder");
  const id = await cluster.submit({ entrypoint: "for n in 1 2 3 4 5 6; do echo part $n; sleep 0.5; done" });
  await cluster.reaches(id, ["running"]);
  await cluster.agent("node-1").kill();
  cluster.startAgent("node-1");
  await cluster.ends(id);
  rmSync(STORE);
  renameSync(away, STORE);
  await stored(id);
  // It moves there once its end is acknowledged.
  const ended = join(cluster.dir, "agent-node-1", "ended", `${id}.1`);
  await eventually({ what: "the attempt is put away" }, () => (existsSync(ended) ? true : null));
  await removed(ended);
  expect((await cluster.cli(["logs", id])).stdout).toBe([1, 2, 3, 4, 5, 6].map((n) => `part ${n}\n`).join(""));
});

test("the next agent uploads output of attempts that ended while the store was away", async () => {
  const away = `${STORE}.away`;
  renameSync(STORE, away);
  writeFileSync(STORE, "not a folder");
  const id = await cluster.submit({ entrypoint: "echo to be kept" });
  await cluster.ends(id);
  const ended = join(cluster.dir, "agent-node-1", "ended", `${id}.1`);
  await eventually({ what: "the attempt is put away" }, () => (existsSync(ended) ? true : null));
  await cluster.agent("node-1").kill();
  rmSync(STORE);
  renameSync(away, STORE);
  cluster.startAgent("node-1");
  await stored(id);
  await removed(ended);
  expect((await cluster.cli(["logs", id])).stdout).toBe("to be kept\n");
});

test("a follower resumes after a server restart without gaps or duplicates", async () => {
  const id = await cluster.submit({ entrypoint: "for n in $(seq 1 40); do echo tick $n; sleep 0.15; done" });
  const following = readAll(id, "-f");
  await eventually({ what: "something was followed" }, () => (following.bytes() > 0 ? true : null));
  await cluster.server.kill();
  await cluster.startServer();
  const expected = Array.from({ length: 40 }, (_, n) => `tick ${n + 1}\n`).join("");
  expect(await following.all).toMatchObject({
    code: 0,
    errors: "",
    hash: createHash("sha256").update(expected).digest("hex"),
  });
});

test("logs filter by time and refuse bad input", async () => {
  const go = cluster.file("go");
  const id = await cluster.submit({ entrypoint: `echo early; until [ -e ${go} ]; do sleep 0.1; done; echo late` });
  await eventually({ what: "the agent has noted when the first line was there" }, () =>
    statSync(onNode(id, "times")).size > 0 ? true : null,
  );
  // Times have a resolution of one second.
  await sleep(2_000);
  const between = new Date().toISOString();
  await sleep(2_000);
  writeFileSync(go, "");
  await cluster.ends(id);
  expect(await cluster.cli(["logs", id, `--since=${between}`])).toMatchObject({
    code: 0,
    stderr: "",
    stdout: "late\n",
  });
  expect((await cluster.cli(["logs", id, `--until=${between}`])).stdout).toBe("early\n");
  expect((await cluster.cli(["logs", id, "--since=yesterday"])).stderr).toContain("a time before now");
  const bad = await cluster.api("GET", `/allocations/${id}/logs?offset=minus-one`);
  expect(bad.body).toMatchObject({ status: 400, code: "invalid_argument" });
});
