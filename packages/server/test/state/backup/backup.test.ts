// A backup is written, listed and verified; every kind of damage is detected and named; and nothing outside the allowed
// destinations is read or written.

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { stateHash } from "@lattice/core";
import { afterAll, describe, expect, test } from "vitest";
import { BackupError } from "../../../src/state/backup/format/backup-error.ts";
import { backupName, timeOfName } from "../../../src/state/backup/format/format.ts";
import { readTar, writeTar } from "../../../src/state/backup/format/tar.ts";
import { allowedBackup, allowedPlace, PlaceError } from "../../../src/state/backup/places.ts";
import { verifyBackup } from "../../../src/state/backup/verify.ts";
import { backupsOf, configFor, never, sha256, takenBackup, temporary } from "./rig.ts";

const dir = temporary();
const { history, source, place, backups, backup } = await takenBackup(dir);
afterAll(() => history.close());

describe("a backup", () => {
  test("has metadata of its cluster", async () => {
    expect(backup.metadata).toMatchObject({
      format: 1,
      server_version: "1.2.3",
      log_index: source.state.index,
      term: 3,
      chain_hash: source.head().hash,
      state_hash: stateHash(source.state, sha256),
      counts: { allocations: source.state.allocationCount, nodes: 1, tenants: 1, vclusters: 1, history_records: 17 },
      members: [{ id: "server-1", address: "127.0.0.1:1" }],
      history_through: source.state.index,
    });
    // Closed segments and the one being written.
    expect(backup.metadata?.parts.length).toBeGreaterThan(3);
    expect(backup.sha256).toBe(sha256(readFileSync(backup.source)));
  });

  test("is a file that other tools read and check", () => {
    const names = execFileSync("tar", ["-tzf", backup.source], { encoding: "utf8" }).trim().split("\n");
    expect(names.slice(0, 3)).toEqual(["metadata.json", "snapshot.jsonl", "history/history-00000001.jsonl"]);
    const checked = execFileSync("sha256sum", ["-c", `${backup.name}.sha256`], { cwd: place, encoding: "utf8" });
    expect(checked).toContain("OK");
  });

  test("is listed with its metadata, newest first, and passes every check", async () => {
    const second = await backups.create("", never);
    const listed = await backups.list("", never);
    expect(listed.map(({ name }) => name)).toEqual([second.name, backup.name]);
    expect(listed[1]).toEqual(backup);
    const { found, stored } = await backups.verify("", never);
    expect(stored.name).toBe(second.name);
    expect(found.checks.map(({ name, ok }) => [name, ok])).toEqual([
      ["checksum", true],
      ["metadata", true],
      ["records", true],
      ["state_hash", true],
      ["history", true],
      ["audit", true],
    ]);
    expect(readdirSync(join(place, ".being-written"))).toEqual([]);
  });

  test("an abandoned backup leaves nothing behind", async () => {
    await expect(backups.create("", AbortSignal.abort())).rejects.toThrow();
    expect(readdirSync(join(place, ".being-written"))).toEqual([]);
  });

  test("a backup taken during changes shows the state at its start", async () => {
    const aside = configFor(join(dir, "aside"));
    const before = stateHash(source.state, sha256);
    const taking = backupsOf(aside, source, history).create("", never);
    await new Promise((resolve) => setImmediate(resolve));
    source.apply({ kind: "retention.set", maxFinished: 4, maxFinishedAge: (10 ** 10) as never });
    const taken = await taking;
    const { found } = await backupsOf(aside, source, history).verify(taken.source, never);
    expect(found.ok).toBe(true);
    expect([before, stateHash(source.state, sha256)]).toContain(found.metadata?.state_hash);
  });
});

/** Changes parts of the archive and packs it again with matching checksums. */
async function repacked(change: (name: string, text: string) => string | null): Promise<string> {
  const files = [];
  const bytes = gunzipSync(readFileSync(backup.source));
  for await (const entry of readTar(chunked(bytes))) {
    const chunks = [];
    for await (const chunk of entry.content) chunks.push(Buffer.from(chunk));
    const text = change(entry.name, Buffer.concat(chunks).toString("utf8"));
    if (text !== null) files.push({ name: entry.name, data: Buffer.from(text) });
  }
  const out = [];
  const all = files.map(({ name, data }) => ({ name, bytes: data.length, content: [data] }));
  for await (const chunk of writeTar(all, 0)) out.push(chunk);
  const path = join(dir, "changed.tar.gz");
  writeFileSync(path, gzipSync(Buffer.concat(out)));
  return path;
}

async function* chunked(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
}

/** Changes a part and its metadata: only the meaning of the part can reveal it. */
const withPart = (which: string, change: (text: string) => string) => {
  let sum = "";
  let length = 0;
  return async (): Promise<string> => {
    await repacked((name, text) => {
      if (name !== which) return text;
      const changed = change(text);
      sum = sha256(changed);
      length = Buffer.byteLength(changed);
      return changed;
    });
    return repacked((name, text) => {
      if (name === which) return change(text);
      if (name !== "metadata.json") return text;
      const metadata = JSON.parse(text) as { parts: { name: string; sha256: string; bytes: number }[] };
      for (const part of metadata.parts) if (part.name === which) Object.assign(part, { sha256: sum, bytes: length });
      return JSON.stringify(metadata);
    });
  };
};

const metadata = (change: object) => () =>
  repacked((name, text) =>
    name === "metadata.json" ? JSON.stringify({ ...(JSON.parse(text) as object), ...change }) : text,
  );

function somethingElse(): string {
  const path = join(dir, "something-else");
  writeFileSync(path, "hello");
  return path;
}

describe("damage", () => {
  test("a change of any byte is detected by the checksum file", async () => {
    const path = join(dir, backup.name);
    for (const at of [0, 10, Math.floor(backup.bytes / 2), backup.bytes - 1]) {
      const bytes = readFileSync(backup.source);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      const { ok, checks } = await verifyBackup(path, backup.sha256);
      expect(ok).toBe(false);
      expect(checks[0]).toMatchObject({ name: "checksum", ok: false });
    }
  });

  test("a change of any byte is detected without the checksum file", async () => {
    const path = join(dir, backup.name);
    const step = Math.max(1, Math.floor(backup.bytes / 60));
    for (let at = 0; at < backup.bytes; at += step) {
      const bytes = readFileSync(backup.source);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      writeFileSync(path, bytes);
      const { ok } = await verifyBackup(path, null);
      // A few bits of a gzip file have no meaning: time, level and system in its header, and padding of its last byte.
      if (!saysTheSame(bytes)) expect(ok, `byte ${at}`).toBe(false);
    }
  });

  function saysTheSame(changed: Buffer): boolean {
    try {
      return gunzipSync(changed).equals(gunzipSync(readFileSync(backup.source)));
    } catch {
      return false;
    }
  }

  test.each([0, 1, 100, 2_000])("a file cut to %i bytes", async (length) => {
    const path = join(dir, backup.name);
    copyFileSync(backup.source, path);
    truncateSync(path, length);
    const { ok, checks } = await verifyBackup(path, null);
    expect(ok).toBe(false);
    expect(checks.find((check) => !check.ok)?.detail).toMatch(/unpacked|truncated|gzip|nothing/);
  });

  const cases: readonly (readonly [string, string, RegExp, () => Promise<string>])[] = [
    ["a newer format", "metadata", /format 99/, metadata({ format: 99 })],
    ["metadata without a hash", "metadata", /state_hash/, metadata({ state_hash: undefined })],
    ["another index", "metadata", /log_index 7/, metadata({ log_index: 7 })],
    ["another state hash", "metadata", /state_hash/, metadata({ state_hash: "0".repeat(64) })],
    ["another chain", "metadata", /chain_hash/, metadata({ chain_hash: "x" })],
    [
      "no metadata",
      "metadata",
      /begin with metadata/,
      () => repacked((n, text) => (n === "metadata.json" ? null : text)),
    ],
    ["no snapshot", "checksum", /where snapshot/, () => repacked((n, text) => (n === "snapshot.jsonl" ? null : text))],
    [
      "a changed part",
      "checksum",
      /snapshot.jsonl does not match its checksum/,
      () => repacked((n, text) => (n === "snapshot.jsonl" ? text.replace("ada", "eve") : text)),
    ],
    [
      "a changed record",
      "state_hash",
      /state hash/,
      withPart("snapshot.jsonl", (text) => text.replace('"ada"', '"eve"')),
    ],
    [
      "a record that is no JSON",
      "records",
      /not readable/,
      withPart("snapshot.jsonl", (t) => t.replace('nodes {"', "nodes {")),
    ],
    ["a missing record", "records", /footer/, withPart("snapshot.jsonl", (t) => t.replace(/^nodes .*\n/m, ""))],
    [
      "a changed record of history",
      "history",
      /does not match its checksum/,
      withPart("history/history-00000001.jsonl", (text) => text.replace('"ada"', '"eve"')),
    ],
    [
      "a missing record of history",
      "history",
      /records/,
      withPart("history/history-00000001.jsonl", (text) => text.replace(/^.*\n/, "")),
    ],
    ["something else", "metadata", /not a gzip/, async () => somethingElse()],
  ];
  test.each(cases)("%s fails the check %s", async (_what, check, words, make) => {
    const { ok, checks } = await verifyBackup(await make(), null);
    expect(ok).toBe(false);
    const failed = checks.find((one) => !one.ok && one.detail !== "not checked");
    expect(failed).toMatchObject({ name: check });
    expect(failed?.detail).toMatch(words);
  });

  test("a missing file is refused", async () => {
    await expect(verifyBackup(join(dir, "none"), null)).rejects.toMatchObject({ code: "missing" });
    await expect(backups.verify(backupName(0), never)).rejects.toMatchObject({ code: "missing" });
    await expect(backupsOf(configFor(join(dir, "empty")), source, history).verify("", never)).rejects.toBeInstanceOf(
      BackupError,
    );
  });

  test("an unreadable backup is still listed", async () => {
    const at = join(dir, "partly");
    mkdirSync(at);
    writeFileSync(join(at, backupName(0)), "hello");
    writeFileSync(join(at, "notes.txt"), "hello");
    const listed = await backupsOf(configFor(at), source, history).list("", never);
    expect(listed).toMatchObject([{ name: backupName(0), metadata: null, sha256: null, bytes: 5 }]);
  });
});

describe("destinations", () => {
  test("are the configured ones and paths below them", async () => {
    const config = configFor(place, { defaultDir: join(dir, "default") });
    expect((await allowedPlace("", config)).place).toBe(place);
    expect((await allowedPlace(join(dir, "default"), config)).place).toBe(join(dir, "default"));
    expect((await allowedPlace(join(place, "weekly", "one"), config)).place).toBe(join(place, "weekly", "one"));
    expect((await allowedBackup(backup.name, config)).name).toBe(backup.name);
    expect((await allowedBackup(backup.source, config)).name).toBe(backup.name);
  });

  test("are no others, however they are written", async () => {
    symlinkSync("/etc", join(place, "link"));
    const config = configFor(place);
    for (const text of [
      "/etc",
      join(place, ".."),
      `${place}/../elsewhere`,
      `${place}-other`,
      join(place, "link"),
      "backups",
      "s3://bucket/prefix",
      "file:///etc",
    ]) {
      await expect(allowedPlace(text, config), text).rejects.toBeInstanceOf(PlaceError);
    }
    for (const text of [
      "/etc/passwd",
      `${place}/notes.txt`,
      "",
      `/etc/${backupName(0)}`,
      `${place}/link/${backupName(0)}`,
    ]) {
      await expect(allowedBackup(text, config), text).rejects.toBeInstanceOf(PlaceError);
    }
    rmSync(join(place, "link"));
  });

  test("in an object store follow the same rule", async () => {
    const s3 = { endpoint: "http://127.0.0.1:1", region: "r", accessKeyId: "a", secretAccessKey: "b" };
    const config = configFor("s3://bucket/lattice", { s3, defaultDir: place });
    expect((await allowedPlace("s3://bucket/lattice/weekly", config)).place).toBe("s3://bucket/lattice/weekly");
    for (const text of ["s3://bucket/lattice-other", "s3://bucket", "s3://other/lattice", "s3://bucket/lattice/../x"]) {
      await expect(allowedPlace(text, config), text).rejects.toBeInstanceOf(PlaceError);
    }
  });
});

test("names carry the time, by the second", () => {
  const at = Date.UTC(2026, 2, 5, 12, 0, 7);
  expect(backupName(at + 999)).toBe("backup-20260305T120007Z.tar.gz");
  expect(timeOfName("backup-20260305T120007Z.tar.gz")).toBe(at);
  for (const name of ["backup-20261305T120007Z.tar.gz", "backup-20260230T120007Z.tar.gz", "backup.tar.gz", "x"]) {
    expect(timeOfName(name)).toBeNull();
  }
});
