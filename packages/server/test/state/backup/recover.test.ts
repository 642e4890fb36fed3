// A backup becomes a cluster again: through the log of a running, empty cluster, or as the start of a new log. A failed
// restore changes nothing.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Allocation, type Command, logIndex, RESTORED_ID_GAP, stateHash, type UserName } from "@lattice/core";
import { pino } from "pino";
import { afterAll, describe, expect, test } from "vitest";
import { type Config, loadConfig } from "../../../src/base/config/index.ts";
import { openEmbeddedLog, seedEmbeddedLog } from "../../../src/log/index.ts";
import { recoverFrom } from "../../../src/state/backup/recover.ts";
import type { RestoreTarget } from "../../../src/state/backup/restore.ts";
import { archiveTo } from "../../../src/state/history/archive.ts";
import { openHistory } from "../../../src/state/history/index.ts";
import { openReplica } from "../../../src/state/replica/replica.ts";
import { type Machine, machine, never, sha256, takenBackup, temporary } from "./rig.ts";

const dir = temporary();
const logger = pino({ level: "silent" });
const { history, source, backups, backup } = await takenBackup(dir);
afterAll(() => history.close());

const options = {
  origin: { user: "root" as UserName, requestId: null, bodyHash: "" },
  signal: never,
  refused: ({ refusal }: { readonly refusal: { readonly code: string; readonly detail: string } }) =>
    new Error(`${refusal.code}: ${refusal.detail}`),
};

/** The new cluster starts after the backup, but soon enough that finished work does not expire at once. */
const AFTERWARDS = 1_700_000_100_000;

/** A running cluster: applies proposed commands and collects archived records. */
function running(failAfter = Number.POSITIVE_INFINITY) {
  const target = machine(AFTERWARDS);
  const archived: Allocation[] = [];
  const commands: Command[] = [];
  let left = failAfter;
  const door: RestoreTarget = {
    async propose(command) {
      if (left === 0) throw new Error("the leader is gone");
      left -= 1;
      commands.push(command);
      const applied = target.apply(command);
      for (const effect of applied.effects) if (effect.kind === "archive") archived.push(effect.record);
      const outcome = applied.outcomes[0];
      if (outcome === undefined) throw new Error("no outcome");
      return { outcome, index: applied.index };
    },
  };
  const heal = () => {
    left = Number.POSITIVE_INFINITY;
  };
  return { target, door, archived, commands, heal };
}

const ids = (all: Iterable<Allocation>): string[] => [...all].map(({ id }) => id);

describe("into a running cluster", () => {
  test("everything is restored, including finished records", async () => {
    const { target, door, archived } = running();
    const { restored } = await backups.restore(backup.source, door, options);
    expect(ids(target.state.allocations())).toEqual(ids(source.state.allocations()));
    expect([...target.state.nodes()]).toEqual([...source.state.nodes()]);
    expect(target.state.allocation("40" as never)?.spec.task).toEqual({ kind: "script", text: "é😀\n".repeat(40) });
    expect(archived).toHaveLength(17);
    expect(restored).toMatchObject({ historyRecords: 17, index: target.state.index });
    expect(target.state.tables.staging.size).toBe(0);
  });

  test("a restore continues after a failure at any point", async () => {
    const whole = running();
    await backups.restore(backup.source, whole.door, options);
    for (let n = 0; n < whole.commands.length; n += 1) {
      const { target, door, archived, heal } = running(n);
      await expect(backups.restore(backup.source, door, options)).rejects.toThrow("the leader is gone");
      heal();
      await backups.restore(backup.source, door, options);
      expect(ids(target.state.allocations())).toEqual(ids(source.state.allocations()));
      expect(new Set(ids(archived)).size).toBe(17);
      expect(target.state.tables.staging.size).toBe(0);
    }
  });

  test("a restore into a used cluster or from a damaged backup is refused and changes nothing", async () => {
    const { target, door } = running();
    await backups.restore(backup.source, door, options);
    const before = [...target.state.allocations()];
    await expect(backups.restore(backup.source, door, options)).rejects.toThrow(/cluster_not_empty/);
    expect([...target.state.allocations()]).toEqual(before);

    const bytes = readFileSync(backup.source);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    mkdirSync(join(dir, "backups", "bad"));
    const bad = join(dir, "backups", "bad", backup.name);
    writeFileSync(bad, bytes);
    const empty = running();
    await expect(backups.restore(bad, empty.door, options)).rejects.toMatchObject({ code: "damaged" });
    expect(empty.commands).toEqual([]);
  });
});

describe("as the beginning of a new log", () => {
  const place = (name: string): Config => loadConfig(null, { server: { data_dir: join(dir, name) } });
  const recover = (config: Config, from = backup.source) =>
    recoverFrom(from, {
      config,
      log: { engine: "embedded", dir: config.quorum.dataDir },
      logger,
      nowMs: Date.now(),
    });

  test("the state is restored, the log continues after it, and the term is higher", async () => {
    const config = place("new");
    const { metadata, historyRecords } = await recover(config);
    expect(historyRecords).toBe(17);
    const log = await openEmbeddedLog({ dir: config.quorum.dataDir });
    const restored = await openHistory({ dir: join(config.server.dataDir, "history") });
    const replica = await openReplica(log, archiveTo(restored, logger));
    try {
      expect(replica.head()).toMatchObject({ index: metadata.log_index, hash: metadata.chain_hash });
      expect(ids(replica.view.allocations())).toEqual(ids(source.state.allocations()));
      const leadership = await log.campaign("one", never);
      expect(leadership.term).toBeGreaterThan(metadata.term + 1_000);
      expect(log.status()).toMatchObject({ lastIndex: metadata.log_index });
      // Ids that may have been used after the backup are not used again.
      const lines: string[] = [];
      for (const line of replica.snapshot().lines) lines.push(line);
      const counters = JSON.parse(lines[1] ?? "") as { readonly counters: { readonly nextAllocation: number } };
      expect(counters.counters.nextAllocation).toBe(41 + RESTORED_ID_GAP);
      expect(await restored.count()).toBe(17);
      restored.begin(logIndex(metadata.log_index));
      expect(restored.gap()).toBeNull();
    } finally {
      await replica.close();
      await restored.close();
      await log.close();
    }
    await expect(recover(config)).rejects.toThrow(/log in .* already/);
  });

  test("an interrupted recovery may be repeated", async () => {
    const config = place("again");
    await recover(config);
    rmSync(config.quorum.dataDir, { recursive: true, maxRetries: 9 });
    await recover(config);
    const restored = await openHistory({ dir: join(config.server.dataDir, "history") });
    expect(await restored.count()).toBe(17);
    await restored.close();
  });

  test("an existing history is not touched", async () => {
    const config = place("kept");
    const at = join(config.server.dataDir, "history");
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, "history-00000001.jsonl"), "");
    await expect(recover(config)).rejects.toThrow(/history in .* already/);
    expect(readdirSync(at)).toEqual(["history-00000001.jsonl"]);
    expect(existsSync(join(config.quorum.dataDir, "snapshots"))).toBe(false);
  });

  test.each([
    ["a missing file is refused", "missing.tar.gz", () => undefined, /ENOENT/],
    ["something else", "x.tar.gz", (path: string) => writeFileSync(path, "hello"), /metadata.*gzip/],
    [
      "a file that was cut",
      "cut.tar.gz",
      (path: string) => writeFileSync(path, readFileSync(backup.source).subarray(0, 900)),
      /checksum/,
    ],
  ])("%s is refused, and nothing is created", async (what, name, make, words) => {
    const config = place(`refused ${what}`);
    make(join(dir, name));
    await expect(recover(config, join(dir, name))).rejects.toThrow(words);
    expect(existsSync(config.server.dataDir)).toBe(false);
  });

  test("a seed does not overwrite a log", async () => {
    const at = { index: logIndex(9), term: 4 as never };
    const place = { dir: join(dir, "seeded") };
    await seedEmbeddedLog(place, at, ["one", "two"]);
    await expect(seedEmbeddedLog(place, at, ["three"])).rejects.toMatchObject({ code: "wrong_index" });
    const log = await openEmbeddedLog(place);
    expect(log.status()).toMatchObject({ term: 4, snapshot: { index: 9 } });
    const loaded = await log.loadSnapshot();
    const lines: string[] = [];
    for await (const line of loaded?.lines ?? []) lines.push(line);
    expect(lines).toEqual(["one", "two"]);
    await log.close();
  });
});

test("the state hash after a restore equals that of the same commands elsewhere", async () => {
  const [a, b] = [running(), running()];
  await backups.restore(backup.source, a.door, options);
  for (const command of a.commands) await b.door.propose(command);
  const same = (one: Machine) => stateHash(Object.assign(one.state, { at: 0 }), sha256);
  expect(same(a.target)).toBe(same(b.target));
});
