// A snapshot restored into an empty etcd: a log begins right behind it, and only there. And the
// generated client is what the proto says.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { logIndex, term } from "@lattice/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEtcdLog, seedEtcdLog } from "../../src/log/index.ts";
import { fill, lead, linesOf, readThrough } from "./entries.ts";
import { startEtcd, type TestCluster } from "./etcd-cluster.ts";
import { temporaryDir } from "./temporary-dir.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startEtcd(1);
});
afterAll(() => cluster.stop());

test("a log starts after a restored snapshot", async () => {
  const options = { endpoints: cluster.endpoints, prefix: "/lattice/restored", name: "one", leaseSeconds: 30 };
  const at = { index: logIndex(500), term: term(7) };
  const info = await seedEtcdLog(options, at, ["one", "two"]);
  await expect(seedEtcdLog(options, at, ["other"])).rejects.toMatchObject({ code: "wrong_index" });

  const log = await openEtcdLog(options);
  expect(log.status()).toMatchObject({ firstIndex: 501, lastIndex: 500, term: 7, snapshot: info });
  const loaded = await log.loadSnapshot();
  expect(loaded?.info).toEqual(info);
  expect(loaded === null ? [] : await linesOf(loaded.lines)).toEqual(["one", "two"]);
  await expect(readThrough(log, 500, 500)).rejects.toMatchObject({ code: "truncated" });
  const leader = await lead(log);
  expect(leader.term).toBe(8);
  await fill(log, leader, 501, 503);
  expect((await readThrough(log, 501, 503)).map((entry) => entry.index)).toEqual([501, 502, 503]);
  expect((await log.members()).map(({ id }) => id)).toEqual(["one"]);
  await log.close();
});

test("the etcd client equals the output of `npm run generate`", async () => {
  const dir = await temporaryDir();
  const template = readFileSync(join(ROOT, "buf.gen.etcd.yaml"), "utf8");
  const changed = join(dir, "buf.gen.yaml");
  writeFileSync(changed, template.replace("out: packages/server/gen", `out: ${JSON.stringify(join(dir, "gen"))}`));
  const bin = join(ROOT, "node_modules", ".bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
  const made = spawnSync(join(bin, "buf"), ["generate", "--template", changed], { cwd: ROOT, env, encoding: "utf8" });
  expect({ status: made.status, text: made.stderr }).toEqual({ status: 0, text: "" });
  const file = join("gen", "etcdserverpb", "rpc_pb.ts");
  const committed = readFileSync(join(ROOT, "packages", "server", file), "utf8");
  expect(readFileSync(join(dir, file), "utf8") === committed, "run `npm run generate`").toBe(true);
  await rm(dir, { recursive: true, maxRetries: 9 });
});
