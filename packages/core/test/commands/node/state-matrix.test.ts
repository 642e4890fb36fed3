// Every command about a node in every state of it: one row per command, one column per state. A command that is not
// accepted changes nothing.

import { type Command, instant, type NodeHealthCommand } from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  createCluster,
  disable,
  drain,
  enable,
  health,
  nodeId,
  origin,
  register,
  submit,
  undrain,
  vcluster,
  vclusterId,
  verdict,
} from "../../support/cluster.ts";
import { contentOf } from "../../support/content.ts";

const LATER = instant(9_000_000);
const quarantine = (until: typeof LATER | null): Command => ({
  kind: "node.quarantine",
  node: nodeId("n1"),
  reason: "jobs fail",
  until,
});

function cluster(...commands: readonly Command[]): Cluster {
  const c = createCluster(vcluster("other"), ...["n1", "n2", "n3", "n4"].map((name) => register(name)));
  for (const command of commands) c.apply(command);
  return c;
}

/** Running work keeps the node from being drained at once. */
function draining(): Cluster {
  const c = cluster(submit());
  c.place(1, "n1");
  c.apply(drain("n1"));
  return c;
}

const STATES = {
  ready: () => cluster(),
  degraded: () => cluster(health("n1", "late")),
  draining,
  drained: () => cluster(drain("n1")),
  silent: () => cluster(health("n1", "silent")),
  disabled: () => cluster(disable("n1")),
  broken: () => cluster(health("n1", "hardware")),
  "on probation": () => cluster(quarantine(LATER)),
  quarantined: () => cluster(quarantine(null)),
} as const;
const NAMES = Object.keys(STATES) as readonly (keyof typeof STATES)[];

const verdictOf = (name: NodeHealthCommand["verdict"]): Command => ({
  kind: "node.health",
  node: nodeId("n1"),
  verdict: name,
  reason: "monitor",
});

const A = "accepted";
const R = "repeated";
const I = "illegal_transition";
const P = "stale_plan";

const COMMANDS: Readonly<Record<string, Command>> = {
  heard: health("n1", "heard"),
  late: health("n1", "late"),
  silent: health("n1", "silent"),
  hardware: health("n1", "hardware"),
  warning: verdictOf("warning"),
  repaired: verdictOf("repaired"),
  drain: drain("n1"),
  "urgent drain": drain("n1", true),
  undrain: undrain("n1"),
  disable: disable("n1"),
  enable: enable("n1"),
  "assignment to all": { kind: "node.assign", origin: origin(), node: nodeId("n1"), vcluster: null },
  "assignment to a vCluster": {
    kind: "node.assign",
    origin: origin(),
    node: nodeId("n1"),
    vcluster: vclusterId("other"),
  },
  probe: { kind: "node.probe", node: nodeId("n1") },
  quarantine: quarantine(LATER),
  "same registration": register("n1"),
};

//                       redy degr drng drnd slnt disa brok prob quar
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  heard: [R, A, R, R, A, R, R, R, R],
  late: [A, R, R, R, R, R, R, R, R],
  silent: [A, A, A, A, R, R, R, R, R],
  hardware: [A, A, A, A, A, A, R, A, A],
  warning: [A, A, A, A, A, A, A, A, A],
  repaired: [R, R, R, R, R, R, A, R, R],
  drain: [A, A, R, R, I, I, I, I, I],
  "urgent drain": [A, A, R, R, I, I, I, I, I],
  undrain: [I, I, I, A, I, I, I, I, I],
  disable: [A, A, A, A, A, R, A, A, A],
  enable: [I, I, I, I, I, A, I, A, A],
  "assignment to all": [A, A, A, A, A, A, A, A, A],
  "assignment to a vCluster": [A, A, I, A, A, A, A, A, A],
  probe: [R, R, R, R, R, R, R, "stale_report", R],
  quarantine: [A, P, P, P, P, P, P, P, P],
  "same registration": [R, R, R, R, A, R, R, R, R],
};

const CASES = Object.entries(COMMANDS).flatMap(([name, command]) =>
  NAMES.map((state, n) => ({ name, command, state, expected: EXPECTED[name]?.[n] ?? "missing" })),
);

describe("a command about a node", () => {
  it.each(CASES)("$name while it is $state is $expected", ({ command, state, expected }) => {
    const c = STATES[state]();
    const before = contentOf(c.state);
    const applied = c.apply(command);
    expect(verdict(applied.outcomes[0])).toBe(expected);
    if (expected === A) {
      expect(contentOf(c.state)).not.toBe(before);
      return;
    }
    expect(contentOf(c.state)).toBe(before);
    expect([applied.events, applied.effects]).toEqual([[], []]);
  });

  it.each(Object.entries(COMMANDS).filter(([, { kind }]) => kind !== "node.register"))(
    "%s is rejected for an unknown node",
    (_name, command) => {
      const c = cluster();
      const before = contentOf(c.state);
      expect(verdict(c.one({ ...command, node: nodeId("n9") } as Command))).toBe("unknown_node");
      expect(contentOf(c.state)).toBe(before);
    },
  );

  it.each(NAMES)("changes nothing when it is repeated while the node is %s", (state) => {
    for (const [name, command] of Object.entries(COMMANDS)) {
      const c = STATES[state]();
      c.apply(command);
      const before = contentOf(c.state);
      const again = c.apply(command);
      if (verdict(again.outcomes[0]) === A) throw new Error(`${name} was carried out twice`);
      expect(contentOf(c.state), name).toBe(before);
    }
  });

  it.each(NAMES)("places work on the node only while it is ready: %s", (state) => {
    const c = STATES[state]();
    c.apply(submit());
    const [last] = Array.from(c.state.allocations()).toReversed();
    const applied = c.place(last?.id ?? "0", "n1");
    expect(verdict(applied.outcomes[0])).toBe(state === "ready" ? A : "node_unavailable");
  });
});
