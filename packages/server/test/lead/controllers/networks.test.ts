// The VNI pool: one notice when it is exhausted, cleared when it is not.

import {
  applyEntry,
  type Command,
  createState,
  DEFAULT_NETWORK,
  type Domain,
  duration,
  instant,
  logIndex,
  type State,
  term,
} from "@lattice/core";
import pino from "pino";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { Sequencer } from "../../../src/lead/commit/sequencer.ts";
import { createNetworkKeeper } from "../../../src/lead/controllers/networks/act.ts";

const domain = (name: string, vni: number): Domain =>
  ({ key: `physics/${name}`, tenant: "physics", name, vni, grace: duration(0), private: false, members: 1 }) as Domain;

function keeping() {
  const state: State = createState();
  let index = 1;
  const proposed: string[] = [];
  const put = (command: Command) => {
    const stamp = { version: 1, index: logIndex(index), term: term(1), at: instant(index), prevHash: "" };
    applyEntry(state, { ...stamp, commands: [command] });
    index += 1;
  };
  const sequencer = {
    async propose(command: Command) {
      proposed.push(command.kind);
      put(command);
      return { outcome: { kind: "accepted", id: null } };
    },
  } as unknown as Sequencer;
  const signal = new AbortController().signal;
  const logger = pino({ level: "silent" });
  const stillLeads = async () => true;
  const parts = { view: () => state, sequencer, stillLeads, clock: systemClock, logger, fabric: null };
  const { domains } = state.tables;
  return {
    proposed,
    put,
    turn: createNetworkKeeper(parts, signal),
    add: (name: string, vni: number) => domains.set(`physics/${name}`, { ...domain(name, vni), emptySince: null }),
    remove: (name: string) => domains.delete(`physics/${name}`),
    lasting: () => [...state.notices()].filter(({ clearedAt }) => clearedAt === undefined).map(({ text }) => text),
  };
}

test("an exhausted pool raises one notice, which a released domain or a larger pool clears", async () => {
  const k = keeping();
  const pool = (vniEnd: number) => k.put({ kind: "network.set", settings: { ...DEFAULT_NETWORK, vniEnd } });
  pool(1_001);
  k.add("blue", 1_000);
  await k.turn();
  expect(k.proposed).toEqual([]);
  k.add("green", 1_001);
  await k.turn();
  await k.turn();
  expect(k.proposed).toEqual(["notice.raise"]);
  expect(k.lasting()).toEqual(["all 2 VNIs of the pool are in use: no network domain can be created"]);
  k.remove("blue");
  await k.turn();
  await k.turn();
  expect(k.lasting()).toEqual([]);
  k.add("blue", 1_000);
  await k.turn();
  expect(k.lasting(), "told again").toHaveLength(1);
  pool(1_002);
  await k.turn();
  expect(k.lasting()).toEqual([]);
  expect(k.proposed).toEqual(["notice.raise", "notice.clear", "notice.raise", "notice.clear"]);
});
