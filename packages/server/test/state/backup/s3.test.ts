// Backups in an object store: a process that speaks the protocol, checks signatures and fails on request.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseS3 } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backups } from "../../../src/state/backup/backups.ts";
import { backupName } from "../../../src/state/backup/format/format.ts";
import type { WrittenBackup } from "../../../src/state/backup/format/store.ts";
import { s3Store } from "../../../src/state/backup/stores/s3.ts";
import type { History } from "../../../src/state/history/index.ts";
import { backupsOf, busy, configFor, never, openTestHistory, sha256, temporary } from "./rig.ts";

const PROGRAM = fileURLToPath(new URL("../../../../../tests/harness/s3-server.ts", import.meta.url));
const dir = temporary();
let store: ChildProcess;
let url = "";
let history: History;
let backups: Backups;
const keys = { region: "eu-1", accessKeyId: "key", secretAccessKey: "se/cret" };

beforeAll(async () => {
  store = spawn(process.execPath, ["--import", "tsx", PROGRAM, "key", "se/cret", "bucket"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  url = await new Promise<string>((resolve) => {
    store.stdout?.once("data", (line: Buffer) => resolve((JSON.parse(line.toString()) as { url: string }).url));
  });
  history = await openTestHistory(dir);
  const config = { s3: { endpoint: url, ...keys }, defaultDir: join(dir, "backups") };
  backups = backupsOf(configFor("s3://bucket/some/place", config), await busy(history), history);
});
afterAll(async () => {
  store.kill();
  await history.close();
});

const fail = async (next: number, how: "error" | "cut" | "refuse") =>
  (await fetch(`${url}/-/faults`, { method: "POST", body: JSON.stringify({ next, how }) })).json() as Promise<{
    readonly uploads: number;
    readonly counts: Readonly<Record<string, number>>;
  }>;

const place = (text = "s3://bucket/other") => {
  const parsed = parseS3(text);
  if (parsed === null) throw new Error(text);
  return parsed;
};
const open = (change: object = {}) => s3Store(place(), { endpoint: url, ...keys, ...change }, join(dir, "spool"));

function fileOf(bytes: number): WrittenBackup {
  const data = randomBytes(bytes);
  const path = join(dir, `large-${bytes}`);
  writeFileSync(path, data);
  return { path, bytes, sha256: sha256(data), metadata: {} as never };
}

test("a backup is written, listed and verified without leaving a local copy", async () => {
  const first = await backups.create("", never);
  expect(first.source).toBe(`s3://bucket/some/place/${first.name}`);
  const listed = await backups.list("", never);
  expect(listed).toEqual([first]);
  const { found, stored } = await backups.verify(first.source, never);
  expect(found).toMatchObject({ ok: true, sha256: first.sha256 });
  expect(stored.source).toBe(first.source);
  expect(readdirSync(join(dir, "backups", ".being-written"))).toEqual([]);
  await expect(backups.verify(`s3://bucket/some/place/${backupName(0)}`, never)).rejects.toMatchObject({
    code: "missing",
  });
});

test("large backups are uploaded in parts and read back unchanged", async () => {
  const written = fileOf(17 * 1024 * 1024 + 5);
  const data = readFileSync(written.path);
  const name = backupName(1_000_000);
  await fail(0, "error");
  const stored = await open().put(written, name, never);
  expect(stored.bytes).toBe(data.length);
  const { counts } = await fail(0, "error");
  expect(counts["PUT uploadId"]).toBe(3);
  const copy = await open().fetch(name, never);
  expect(readFileSync(copy.path).equals(data)).toBe(true);
  expect(copy.sha256).toBe(written.sha256);
  await copy.done();
  await open().remove(name, never);
  expect(await open().list(never)).toEqual([]);
});

test.each(["error", "cut"] as const)("a store that fails a few times (%s) does no harm", async (how) => {
  const name = backupName(how === "cut" ? 2_000_000 : 3_000_000);
  await fail(2, how);
  await open().put(fileOf(1_000), name, never);
  await fail(2, how);
  const copy = await open().fetch(name, never);
  expect(copy.sha256).toMatch(/^[0-9a-f]{64}$/);
  await copy.done();
});

test("a list of several pages is sorted newest first", async () => {
  for (let n = 1; n <= 4; n += 1) await open().put(fileOf(10 + n), backupName(n * 10_000_000), never);
  const names = (await open().list(never)).map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(4);
  expect(names).toEqual([...names].sort().reverse());
});

test("a failing or refusing store is a readable error", async () => {
  await fail(100, "error");
  await expect(backups.create("", never)).rejects.toMatchObject({ code: "unavailable" });
  await fail(1, "refuse");
  await expect(open().list(never)).rejects.toThrow(/AccessDenied|403/);
  await fail(0, "error");
  await expect(open({ secretAccessKey: "wrong" }).list(never)).rejects.toMatchObject({ code: "unavailable" });
  await expect(s3Store(place("s3://absent/x"), { endpoint: url, ...keys }, dir).list(never)).rejects.toMatchObject({
    code: "missing",
  });
});

test("a failed upload is aborted and not listed", async () => {
  const before = await open().list(never);
  await fail(0, "error");
  const sending = open().put(fileOf(9 * 1024 * 1024), backupName(90_000_000), AbortSignal.timeout(40));
  await expect(sending).rejects.toThrow();
  expect(await open().list(never)).toEqual(before);
});
