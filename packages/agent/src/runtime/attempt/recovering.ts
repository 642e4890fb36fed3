// Recovers the attempts of an earlier agent, and removes what belongs to none of them.

import { readdir } from "node:fs/promises";
import { findWrapper, isWrapper } from "../../host/isolation/wrapper-process.ts";
import type { RecoveredFacts } from "../../lifecycle/recover.ts";
import { readAttempt, readGroup, readPid } from "../base/attempt-files.ts";
import { readLaunch } from "../base/launch-file.ts";
import { stop } from "../process/stop.ts";
import { readHoldings, readShare } from "../prologue/attempt-holdings.ts";
import { sweepLeftovers } from "../prologue/epilogue.ts";
import { dirOf, groupOf, keptOf, type RuntimeContext } from "./context.ts";
import { withMemory } from "./exits.ts";

export async function recoverAttempts(context: RuntimeContext): Promise<ReadonlyMap<string, RecoveredFacts>> {
  await context.retention.load();
  const keys = await readdir(context.attemptsDir);
  const found = await Promise.all(keys.map(async (key) => [key, await factsOf(context, key)] as const));
  return leaveToNewest(context, new Map(found));
}

/** A wrapper runs one attempt after the other: only the newest one still has it and its group. */
function leaveToNewest(
  { processes }: RuntimeContext,
  found: ReadonlyMap<string, RecoveredFacts>,
): ReadonlyMap<string, RecoveredFacts> {
  const holders = new Map<string, string>();
  for (const [key, facts] of found) {
    const { group = key } = processes.get(key) ?? {};
    const other = holders.get(group);
    if (other === undefined || isLater(facts, found.get(other))) holders.set(group, key);
  }
  return new Map(
    Array.from(found, ([key, facts]) => {
      const known = processes.get(key);
      if (known === undefined || holders.get(known.group) === key) return [key, facts] as const;
      processes.set(key, { ...known, leader: null, group: key });
      return [key, { ...facts, alive: false }] as const;
    }),
  );
}

/** Files may have the same time; an attempt without an exit has not ended. */
function isLater(facts: RecoveredFacts, than: RecoveredFacts | undefined): boolean {
  if (than === undefined) return true;
  if ((facts.exit === null) !== (than.exit === null)) return facts.exit === null;
  return facts.claimedAtMs > than.claimedAtMs;
}

async function factsOf(context: RuntimeContext, key: string): Promise<RecoveredFacts> {
  const { processes, prologue, bootId } = context;
  const dir = dirOf(context, key);
  const claimed = readPid(dir);
  const group = readGroup(dir) ?? readLaunch(dir)?.wrapper ?? key;
  const leader = claimed === 0 ? await findWrapper(group) : claimed;
  const alive = leader !== null && (await isWrapper(group, leader));
  // Read after the process check, so that an exit written in between is seen.
  const files = readAttempt(dir);
  const rebooted = files.order !== null && files.bootId !== bootId;
  // The id of an ended wrapper may have been reused; that session must not be killed.
  const own = alive && !rebooted ? leader : null;
  processes.set(key, { ...keptOf(dir), leader: own, group, signalled: new Set() });
  const exit = files.exit === null ? null : await withMemory(context, key, files.exit);
  prologue.images.cache.pin(key, readHoldings(dir).images);
  const share = await readShare(dir);
  if (share !== null) prologue.shares.keep(key, share);
  return { ...files, exit, claimed: claimed !== null, alive, rebooted };
}

export async function sweepAttempts(context: RuntimeContext, known: ReadonlySet<string>): Promise<void> {
  const { isolation, limits, warm, prologue, closing, log } = context;
  const groups = new Set([...known].map((key) => groupOf(context, key)));
  for (const key of await isolation.groups()) {
    if (groups.has(key) || warm.has(key)) continue;
    log.warn({ group: key }, "removing the control group of an unknown attempt");
    const place = { key, dir: dirOf(context, key), leader: null };
    await stop(place, { isolation, files: prologue.files, signal: closing.signal, log });
  }
  for (const key of await limits.keys()) if (!groups.has(key) && !warm.has(key)) await limits.remove(key);
  await sweepLeftovers(prologue, known, log);
}
