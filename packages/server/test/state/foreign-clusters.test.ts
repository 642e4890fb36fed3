// The record of a refused agent or server of another cluster: counted and logged each time, a notice once a minute.

import type { RaiseNoticeCommand } from "@lattice/core";
import pino from "pino";
import { expect, test } from "vitest";
import { createForeignClusters, type ForeignParty, OBSERVE_EVERY_MS } from "../../src/state/foreign-clusters.ts";
import { createTestClock } from "../base/clock.ts";

const met = (subject: string): ForeignParty => ({
  peer: "server",
  subject,
  cluster: "b".repeat(32),
  text: "it called",
});

function record() {
  const clock = createTestClock();
  const proposed: string[] = [];
  const counted: string[] = [];
  const lines: string[] = [];
  const state = { fails: false };
  const foreign = createForeignClusters({
    view: () => ({ identity: null }),
    propose: async ({ notice }: RaiseNoticeCommand) => {
      if (state.fails) throw new Error("no server leads");
      proposed.push(notice.key);
    },
    counted: (peer) => counted.push(peer),
    clock,
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
  });
  return { clock, proposed, counted, lines, state, foreign };
}

test("every refusal is counted and logged, and the notice is observed once a minute", async () => {
  const { clock, proposed, counted, lines, foreign } = record();
  for (let n = 0; n < 5; n += 1) await foreign.refused(met("10.0.0.7"));
  await foreign.refused(met("10.0.0.8"));
  expect(counted).toHaveLength(6);
  expect(lines.filter((line) => line.includes("another cluster refused"))).toHaveLength(6);
  expect(proposed).toEqual(["foreign_cluster/server 10.0.0.7", "foreign_cluster/server 10.0.0.8"]);
  await clock.advance(OBSERVE_EVERY_MS);
  await foreign.refused(met("10.0.0.7"));
  expect(proposed).toHaveLength(3);
});

test("a notice that could not be recorded is proposed again", async () => {
  const { proposed, state, foreign } = record();
  state.fails = true;
  await foreign.refused(met("10.0.0.7"));
  state.fails = false;
  await foreign.refused(met("10.0.0.7"));
  expect(proposed).toHaveLength(1);
});
