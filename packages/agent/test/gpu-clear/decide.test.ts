// When GPU memory must be cleared between users, as a table, and the stored owners.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, expect, test } from "vitest";
import type { GpuUnit } from "../../src/discovery/gpus/base/inventory.ts";
import { type GpuUser, type LastUser, mustClear } from "../../src/gpu-clear/decide.ts";
import { gpusBetweenUsers } from "../../src/gpu-clear/gpu-handover.ts";
import { openGpuOwners } from "../../src/gpu-clear/gpu-owners.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-gpus-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));
const log = pino({ level: "silent" });

const who = (user: string, tenant = "t", sensitive = false): GpuUser => ({ user, tenant, sensitive });

test.each<readonly [string, LastUser, GpuUser, boolean]>([
  ["unused since it was zeroed", "clean", who("ada"), false],
  ["the same user", who("ada"), who("ada"), false],
  ["another user", who("bob"), who("ada"), true],
  ["a user of that name in another tenant", who("ada", "u"), who("ada"), true],
  ["the last user is unknown", "unknown", who("ada"), true],
  ["the same user, sensitive before", who("ada", "t", true), who("ada"), true],
  ["the same user, sensitive now", who("ada"), who("ada", "t", true), true],
  ["sensitive now, and zeroed", "clean", who("ada", "t", true), false],
])("last: %s", (_name, last, next, expected) => {
  expect(mustClear(last, next)).toBe(expected);
});

test("GPU owners survive the agent and are written on change", () => {
  const path = join(folder, "gpus.json");
  const ledger = openGpuOwners(path, log);
  ledger.used(["A", "B"], who("ada"));
  ledger.cleared("B");
  const again = openGpuOwners(path, log);
  expect([again.last("A"), again.last("B"), again.last("C")]).toEqual([who("ada"), "clean", "clean"]);
  const before = readFileSync(path, "utf8");
  writeFileSync(path, "{}");
  again.used(["A"], who("ada"));
  expect(readFileSync(path, "utf8")).toBe("{}");
  again.used(["A"], who("bob"));
  expect(readFileSync(path, "utf8")).not.toBe(before);
});

test("with an unreadable file every GPU counts as used until it is cleared", () => {
  const path = join(folder, "broken.json");
  writeFileSync(path, '{"A":');
  const ledger = openGpuOwners(path, log);
  expect(ledger.last("A")).toBe("unknown");
  ledger.cleared("A");
  expect([ledger.last("A"), ledger.last("B")]).toEqual(["clean", "unknown"]);
});

const unit = (index: number): GpuUnit => ({
  ...{ index, vendor: "nvidia", model: "H100", uuid: `GPU-${index}`, memoryBytes: 1, pci: "", device: `195:${index}` },
  ...{ partitioned: false, capability: "", firmware: "", temperatureC: null, fault: "" },
});
const NEVER = new AbortController().signal;

/** Time passes on request. */
function place(clear: (unit: GpuUnit, signal: AbortSignal) => Promise<void>) {
  const waiting = new Set<() => void>();
  const gpus = gpusBetweenUsers({
    clear,
    ledger: openGpuOwners(join(folder, `${Math.random()}.json`), log),
    after(_ms, callback) {
      waiting.add(callback);
      return () => void waiting.delete(callback);
    },
    log,
  });
  const pass = (): void => {
    for (const callback of [...waiting]) {
      waiting.delete(callback);
      callback();
    }
  };
  return { gpus, pass, waiting };
}

test("another user waits for a running clearing; the same user cancels it", async () => {
  const reported: string[] = [];
  let end = (): void => undefined;
  const { gpus, pass, waiting } = place(({ index }, signal) => {
    reported.push(`started ${index}`);
    return new Promise((resolve, reject) => {
      end = resolve;
      signal.addEventListener("abort", () => reject(new Error("stopped")));
    });
  });
  await gpus.claim([unit(0)], who("ada"), NEVER);
  await gpus.release([unit(0)], who("ada"));
  expect([reported, waiting.size]).toEqual([[], 1]);
  pass();
  // The same user again: the clearing is cancelled without a wait.
  await gpus.claim([unit(0)], who("ada"), NEVER);
  expect(reported).toEqual(["started 0"]);
  await gpus.release([unit(0)], who("ada"));
  pass();
  const other = gpus.claim([unit(0)], who("bob"), NEVER).then(() => reported.push("bob has it"));
  await Promise.resolve();
  expect(reported).toEqual(["started 0", "started 0"]);
  end();
  await other;
  expect(reported).toEqual(["started 0", "started 0", "bob has it"]);
  await gpus.close();
});

test("sensitive work ends only when its GPU is zeroed; a GPU that cannot be cleared goes to no other user", async () => {
  let broken = false;
  const reported: number[] = [];
  const { gpus, waiting } = place(async ({ index }) => {
    if (broken) throw new Error(`GPU ${index} cannot be cleared: no`);
    reported.push(index);
  });
  await gpus.claim([unit(0), unit(1)], who("ada", "t", true), NEVER);
  await gpus.release([unit(0), unit(1)], who("ada", "t", true));
  expect([reported, waiting.size]).toEqual([[0, 1], 0]);
  await gpus.claim([unit(0), unit(1)], who("ada"), NEVER);
  broken = true;
  await expect(gpus.claim([unit(0), unit(1)], who("bob"), NEVER)).rejects.toThrow(
    "GPU 0 cannot be cleared: no; GPU 1 cannot be cleared: no",
  );
  await gpus.claim([unit(0)], who("ada"), NEVER);
});
