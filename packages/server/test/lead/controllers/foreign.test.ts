// Notices of other clusters: cleared when nothing of them was met for five minutes.

import { instant, type Notice, noticeKey, type View } from "@lattice/core";
import { expect, test } from "vitest";
import { CLEAR_AFTER, decideGone } from "../../../src/lead/controllers/foreign/decide.ts";
import { OBSERVE_EVERY_MS } from "../../../src/state/foreign-clusters.ts";

const notice = (change: Partial<Notice>): Notice => ({
  key: noticeKey("foreign_cluster", "n1"),
  kind: "foreign_cluster",
  at: instant(0),
  text: "",
  tenant: null,
  user: null,
  ...change,
});
const goneAt = (now: number, change: Partial<Notice> = {}) =>
  decideGone({ notices: () => [notice(change)] } as unknown as View, instant(now)).length === 1;

test.each([
  ["after five minutes", CLEAR_AFTER, {}, true],
  ["before", CLEAR_AFTER - 1, {}, false],
  ["five minutes after its last occurrence", CLEAR_AFTER + 10, { seenAt: instant(10) }, true],
  ["before that", CLEAR_AFTER + 9, { seenAt: instant(10) }, false],
  ["a second time", CLEAR_AFTER, { clearedAt: instant(5) }, false],
  ["of a kind that is cleared by its own rule", CLEAR_AFTER, { kind: "node_silent" }, false],
] as const)("a notice is cleared %s", (_, now, change, isGone) => {
  expect(goneAt(now, change)).toBe(isGone);
});

test("a cluster that is met all the time is observed more often than its notice is cleared", () => {
  expect(OBSERVE_EVERY_MS * 2).toBeLessThan(CLEAR_AFTER);
});
