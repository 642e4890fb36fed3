// External signals decide where and when work starts; and a trace captured at run time goes to an object store and
// replays.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useObjectStore } from "../harness/object-store.ts";
import { root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const store = await useObjectStore("traces");
const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: STORE_SECRET = "" } = store.environment;
const config = `backup:
  interval: 0s
  s3: { endpoint: "${store.url}", region: eu-test-1, access_key_id: "${key}", secret_access_key: "env://STORE_SECRET" }
`;
const cluster = useCluster({
  nodes: 2,
  groups: ["g1", "g2"],
  agentArgs: ["--power-watts=500"],
  config,
  serverEnv: { STORE_SECRET },
});
const run = promisify(execFile);

const signal = async (text: string): Promise<void> => {
  const { stderr, code } = await cluster.cli(["admin", "signals", "--file", "-"], { input: text });
  expect([stderr, code]).toEqual(["", 0]);
};
const nodeOf = async (id: string): Promise<string | undefined> =>
  (await cluster.api<{ nodes?: readonly string[] }>("GET", `/allocations/${id}`)).body.nodes?.[0];

test("congested groups are used last", async () => {
  const groups = new Map<string, string>();
  const { body } = await cluster.api<{ nodes: readonly { id: string; group: string }[] }>("GET", "/nodes");
  for (const { id, group } of body.nodes) groups.set(id, group);
  for (const [quiet, busy] of [
    ["g1", "g2"],
    ["g2", "g1"],
  ] as const) {
    await signal(`congestion: { ${quiet}: 0, ${busy}: 0.9 }\n`);
    const id = await cluster.submit({ entrypoint: "true" });
    await cluster.ends(id);
    expect(groups.get((await nodeOf(id)) ?? "")).toBe(quiet);
  }
});

test.each([
  { what: "power", ask: {}, cause: /power/i },
  { what: "storage", ask: { storage_mb_per_second: 500 }, cause: /storage/i },
])("a $what budget that is used up holds work back until there is some again", async ({ what, ask, cause }) => {
  await signal(`${what}: { limit: 1000, used: 900 }\n`);
  const id = await cluster.submit({ entrypoint: "true", constraints: ask });
  await eventually({ what: `why names the ${what} budget` }, async () => {
    const { stdout } = await cluster.cli(["why", id]);
    return cause.test(stdout) ? true : null;
  });
  expect((await cluster.api<{ state: string }>("GET", `/allocations/${id}`)).body.state).toBe("pending");
  await signal(`${what}: { limit: 1000, used: 100 }\n`);
  expect((await cluster.ends(id)).state).toBe("completed");
});

test("trace capture is switched on and off while the server runs", async () => {
  const set = (setting: string) => cluster.cli(["admin", "config", "set", setting]);
  const astray = await set("scheduler.trace_path=/etc/cron.d/trace");
  expect([astray.code === 0, astray.stderr]).toEqual([false, expect.stringMatching(/below the servers' data folders/)]);
  expect((await set("scheduler.trace_path=../../trace")).code).not.toBe(0);
  expect((await set("scheduler.trace_path=s3://traces/of/today")).stderr).toBe("");
  expect((await set("scheduler.trace_capture=true")).stderr).toBe("");
  const id = await cluster.submit({ entrypoint: "sleep 0.2", nodes: 2, walltime: "1m" });
  await cluster.ends(id);
  // The store is away for a moment: nothing is lost.
  await store.fail(1, "error");
  expect((await set("scheduler.trace_capture=false")).stderr).toBe("");
  const sent = await eventually({ what: "the trace is in the store" }, async () => {
    const keys = await store.objects();
    return keys.find((name) => /^traces\/of\/today\/trace-.*\.jsonl\.gz$/.test(name)) ?? null;
  });
  const after = await cluster.submit({ entrypoint: "true" });
  await cluster.ends(after);

  const answer = await fetch(`${store.url}/-/objects/${encodeURIComponent(sent)}`);
  const trace = join(cluster.dir, "sent.jsonl.gz");
  writeFileSync(trace, Buffer.from(await answer.arrayBuffer()));
  const out = cluster.file("replayed");
  const program = join(root, "packages", "replay", "bin", "rm-replay.js");
  const { stdout } = await run(process.execPath, [program, "--trace", trace, "--output", out]);
  expect(stdout).toMatch(/Jobs: 1\b/);
  expect((await store.objects()).filter((name) => name.startsWith("traces/"))).toEqual([sent]);
});
