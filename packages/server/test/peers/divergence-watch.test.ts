// A diverged server gives up the lead and stops; the leader raises the notice, and clears it when the states agree again.

import { type Command, logIndex, type Notice } from "@lattice/core";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { type ComparedServer, DivergenceWatch } from "../../src/peers/divergence-watch.ts";
import { createTestClock } from "../base/clock.ts";

const marks = (hash: string) => [{ index: logIndex(7), hash }];
const server = (id: string, hash: string, diverged = false): ComparedServer => ({ id, marks: marks(hash), diverged });

function rig(own: string, others: readonly ComparedServer[]) {
  const facts = { own, others, leader: "s1", leads: true, members: ["s1", "s2", "s3"], gaveUp: 0, gauge: false };
  const notices = new Map<string, Notice>();
  const proposed: Command[] = [];
  const watch = new DivergenceWatch({
    selfId: "s1",
    ownMarks: () => marks(facts.own),
    others: async () => facts.others,
    leaderId: () => facts.leader,
    leads: () => facts.leads,
    isMember: (id) => facts.members.includes(id),
    giveUpLead: async () => {
      facts.gaveUp += 1;
    },
    view: () => ({ notice: (key) => notices.get(key), notices: () => notices.values() }),
    async propose(command) {
      proposed.push(command);
      if (command.kind === "notice.raise") notices.set(command.notice.key, command.notice as Notice);
      if (command.kind === "notice.clear") notices.delete(command.key);
    },
    clock: createTestClock(),
    logger: pino({ level: "silent" }),
    metrics: {
      stateCompared: () => undefined,
      stateDiverged: (diverged) => {
        facts.gauge = diverged;
      },
    },
  });
  return { facts, watch, proposed, raised: () => [...notices.keys()] };
}

describe("a server that compares states", () => {
  test("stops for good when it is the one that differs", async () => {
    const { watch, facts, proposed } = rig("x", [server("s2", "a"), server("s3", "a")]);
    await watch.compare();
    expect(watch.found()).toEqual({ index: 7, hash: "x", expected: "a" });
    expect(facts).toMatchObject({ gaveUp: 1, gauge: true });
    facts.own = "a";
    await watch.compare();
    expect(watch.found()).not.toBeNull();
    expect(facts.gaveUp).toBe(1);
    expect(proposed).toEqual([]);
  });

  test("raises one notice as the leader, and clears it when the states agree again", async () => {
    const { watch, facts, raised, proposed } = rig("a", [server("s2", "x"), server("s3", "a")]);
    await watch.compare();
    await watch.compare();
    expect(raised()).toEqual(["state_diverged/s2"]);
    expect(proposed).toHaveLength(1);
    facts.others = [server("s3", "a")];
    await watch.compare();
    expect(raised()).toEqual(["state_diverged/s2"]);
    facts.others = [server("s2", "a", true), server("s3", "a")];
    await watch.compare();
    expect(raised()).toEqual(["state_diverged/s2"]);
    facts.others = [server("s2", "a"), server("s3", "a")];
    await watch.compare();
    expect(raised()).toEqual([]);
    expect(watch.found()).toBeNull();
  });

  test("clears the notice of a server that was removed", async () => {
    const { watch, facts, raised } = rig("a", [server("s2", "x"), server("s3", "a")]);
    await watch.compare();
    facts.others = [server("s3", "a")];
    facts.members = ["s1", "s3"];
    await watch.compare();
    expect(raised()).toEqual([]);
  });

  test("leaves notices to the leader", async () => {
    const { watch, facts, proposed } = rig("a", [server("s2", "x"), server("s3", "a")]);
    facts.leads = false;
    facts.leader = "s3";
    await watch.compare();
    expect(proposed).toEqual([]);
    expect(watch.found()).toBeNull();
  });
});
