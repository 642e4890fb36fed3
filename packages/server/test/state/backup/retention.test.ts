// The default retention: all for 7 days, one a day for 30, one a week for 90, then none; and always the last complete
// backup.

import { duration, instant } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backupName } from "../../../src/state/backup/format/format.ts";
import { decideExpired, type KeptBackup } from "../../../src/state/backup/retention.ts";
import { decideBackup } from "../../../src/state/backup/schedule/decide.ts";
import { DAY_MS, RULE } from "./rig.ts";

const HOUR_MS = 3_600_000;
/** A Wednesday. */
const NOW = Date.UTC(2026, 10, 18, 12);
const aged = (ms: number, whole = true): KeptBackup => ({
  name: backupName(NOW - ms),
  createdAtMs: NOW - ms,
  whole,
});
const day = (at: number): number => Math.floor(at / DAY_MS);

describe("retention", () => {
  test("of hourly backups over half a year", () => {
    const all = Array.from({ length: 24 * 180 }, (_, n) => aged(n * HOUR_MS));
    const expired = new Set(decideExpired(all, NOW, RULE));
    const kept = all.filter(({ name }) => !expired.has(name));
    const between = (from: number, to: number) =>
      kept.filter(({ createdAtMs }) => NOW - createdAtMs > from * DAY_MS && NOW - createdAtMs <= to * DAY_MS);
    expect(between(-1, 7)).toHaveLength(24 * 7 + 1);
    // Both ends are at noon, so their days count as well.
    expect(between(7, 30)).toHaveLength(24);
    expect(between(30, 90)).toHaveLength(10);
    expect(between(90, 999)).toHaveLength(0);
    // Of a day the newest; of a week the newest.
    expect(new Date(between(8, 29)[0]?.createdAtMs ?? 0).getUTCHours()).toBe(23);
    expect(new Date(between(40, 80)[0]?.createdAtMs ?? 0).getUTCDay()).toBe(0);
  });

  test("retention keeps the last complete backup at any age, and no broken one instead", () => {
    const old = aged(400 * DAY_MS);
    expect(decideExpired([old], NOW, RULE)).toEqual([]);
    expect(decideExpired([old, aged(500 * DAY_MS)], NOW, RULE)).toEqual([aged(500 * DAY_MS).name]);
    expect(decideExpired([old, aged(HOUR_MS, false)], NOW, RULE)).toEqual([]);
    const broken = aged(10 * DAY_MS, false);
    const whole = aged(10 * DAY_MS + HOUR_MS);
    expect(decideExpired([aged(0), broken, whole], NOW, RULE)).toEqual([broken.name]);
  });

  const backups = fc
    .uniqueArray(fc.record({ hours: fc.integer({ min: 0, max: 24 * 200 }), whole: fc.boolean() }), {
      selector: ({ hours }) => hours,
      maxLength: 120,
    })
    .map((list) => list.map(({ hours, whole }) => aged(hours * HOUR_MS, whole)));

  test("retention deletes nothing young, keeps one per day, and does not depend on the order", () => {
    fc.assert(
      fc.property(backups, fc.func(fc.integer()), (list, shuffle) => {
        const expired = new Set(decideExpired(list, NOW, RULE));
        const kept = list.filter(({ name }) => !expired.has(name));
        for (const { name, createdAtMs } of list) {
          if (NOW - createdAtMs <= RULE.all) expect(expired.has(name)).toBe(false);
        }
        const whole = list.filter((backup) => backup.whole);
        if (whole.length > 0) expect(kept.some((backup) => backup.whole)).toBe(true);
        for (const { createdAtMs } of whole) {
          if (NOW - createdAtMs > RULE.daily) continue;
          expect(kept.some((one) => one.whole && day(one.createdAtMs) === day(createdAtMs))).toBe(true);
        }
        for (const { createdAtMs } of whole) {
          if (NOW - createdAtMs > RULE.weekly) continue;
          const near = (one: KeptBackup) => Math.abs(one.createdAtMs - createdAtMs) < 7 * DAY_MS;
          expect(kept.some((one) => one.whole && near(one))).toBe(true);
        }
        const reordered = [...list].sort((a, b) => shuffle(a.name) - shuffle(b.name));
        expect(new Set(decideExpired(reordered, NOW, RULE))).toEqual(expired);
        // A second evaluation keeps the same backups.
        expect(decideExpired(kept, NOW, RULE)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test("daily retention never loses more than the rule allows", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), (everyHours) => {
        let kept: KeptBackup[] = [];
        const start = NOW - 150 * DAY_MS;
        for (let at = start; at <= NOW; at += everyHours * HOUR_MS) {
          kept.push({ name: backupName(at), createdAtMs: at, whole: true });
          const expired = new Set(decideExpired(kept, at, RULE));
          kept = kept.filter(({ name }) => !expired.has(name));
        }
        const ages = kept.map(({ createdAtMs }) => (NOW - createdAtMs) / DAY_MS).sort((a, b) => a - b);
        const gaps = ages.slice(1).map((age, n) => age - (ages[n] ?? 0));
        expect(Math.max(...gaps)).toBeLessThanOrEqual(14);
        expect(ages.at(-1)).toBeGreaterThan(80);
        expect(ages.length).toBeLessThan(24 * 7 + 23 + 9 + 5);
      }),
      { numRuns: 20 },
    );
  });
});

describe("the schedule", () => {
  const hour = duration(HOUR_MS);
  const now = instant(NOW);
  const at = (ms: number) => instant(NOW - ms);
  test.each([
    ["no backup yet", [], null, 0],
    ["the newest is old", [at(2 * HOUR_MS), at(5 * HOUR_MS)], null, 0],
    ["the newest is young", [at(5 * HOUR_MS), at(600_000)], null, 3_000_000],
    ["exactly due", [at(HOUR_MS)], null, 0],
    ["one from the future does not count", [at(-HOUR_MS), at(600_000)], null, 3_000_000],
    ["a failure is retried soon", [], at(10_000), 50_000],
    ["a failure long ago is no reason to wait", [], at(600_000), 0],
    ["a failure does not bring the next one forward", [at(600_000)], at(300_000), 3_000_000],
  ])("%s", (_what, taken, failedAt, wait) => {
    expect(decideBackup({ now, interval: hour, taken, failedAt })).toBe(wait);
  });
});
