// Network domains at the fabric manager: the client by itself, and the controller of the domains, against a manager
// in another process.
import { duration, instant, type View } from "@lattice/core";
import pino from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { FABRIC_PATHS, type FakeManager, startFakeManager } from "../../../../../tests/doubles/fabric.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { Sequencer } from "../../../src/lead/commit/sequencer.ts";
import { createNetworkKeeper } from "../../../src/lead/controllers/networks/act.ts";
import { decideNetworks } from "../../../src/lead/controllers/networks/decide.ts";
import { type FabricDomains, fabricDomains } from "../../../src/nodes/fabric/domains.ts";

let fake: FakeManager;
let client: FabricDomains;
const counts: string[] = [];
const never = new AbortController().signal;
const blue = { vni: 1_000, tenant: "physics", name: "blue", nodes: ["n1", "n2"], sensitive: false };

beforeAll(async () => {
  fake = await startFakeManager("secret");
  const config = { url: fake.url, token: "secret", timeoutMs: 20_000, owner: "east", ...FABRIC_PATHS };
  client = fabricDomains(config, (operation, result) => void counts.push(`${operation} ${result}`));
});
afterEach(async () => {
  await fake.faults([]);
  await fake.forget();
  counts.length = 0;
});
afterAll(() => fake.close());

test("a network is created, changed and deleted; networks of other clusters are left alone", async () => {
  await client.put(blue, never);
  await client.put({ ...blue, nodes: ["n1"] }, never);
  expect(await client.list(never)).toEqual([{ vni: 1_000, nodes: ["n1"] }]);
  expect((await fake.networks()).vnis).toMatchObject([{ owner: "east", tenant: "physics", name: "blue" }]);
  await client.remove(1_000, never);
  await client.remove(1_000, never);
  await fake.plant({ vni: 1_001, owner: "west", nodes: ["n9"] });
  expect(await client.list(never)).toEqual([]);
  await expect(client.put({ ...blue, vni: 1_001 }, never)).rejects.toThrow("it answers 409");
  expect(counts).toContain("domain_put failed");
});

test("configured paths are used", async () => {
  const config = { url: fake.url, token: "secret", timeoutMs: 20_000, owner: "east", ...FABRIC_PATHS };
  const other = fabricDomains({ ...config, domainsPath: "/v2/networks" }, () => undefined);
  await expect(other.put(blue, never)).rejects.toThrow("it answers 404");
  expect((await fake.networks()).calls).toContain("PUT /v2/networks/1000");
});

test.each([
  ["is unwell", { call: "PUT vni", times: 1, status: 503 }, "it answers 503"],
  ["stays silent", { call: "PUT vni", times: 1, kind: "silent" }, "it does not answer in time"],
  ["hangs up", { call: "PUT vni", times: 1, kind: "cut" }, "it cannot be reached"],
] as const)("one that %s: the reason in words", async (_name, fault, message) => {
  await fake.faults([fault]);
  await expect(client.put(blue, never)).rejects.toThrow(message);
  await fake.faults([{ call: "GET vni", times: 1, status: 200 }]);
  await expect(client.list(never)).rejects.toThrow("not valid JSON");
});

/** A state with one domain, changed by what is proposed as `apply` would. */
function world(domain: object, stillLeads = async () => true) {
  const state = { domain: { ...DOMAIN, ...domain } as Record<string, unknown> | null };
  const member = { id: "1", spec: { tenant: "physics" }, network: { domain: "blue", vni: 1_000 } };
  const phase = { kind: "staging", nodes: ["n2", "n1"], progress: [] };
  const view = {
    network: { managed: true, vniStart: 1_000, vniEnd: 1_010 },
    domains: () => (state.domain === null ? [] : [state.domain]),
    domain: () => state.domain ?? undefined,
    notices: () => [],
    nodes: () => [],
    allocation: () => undefined,
    placed: () => (state.domain?.emptySince === null ? [{ ...member, phase }] : []),
  } as unknown as View;
  const proposed: Record<string, unknown>[] = [];
  const sequencer = {
    propose: async (command: Record<string, unknown>) => {
      proposed.push(command);
      if (command.kind === "network.release") state.domain = null;
      else state.domain = { ...state.domain, fabric: { nodes: command.nodes, ...problemOf(command.problem) } };
    },
  } as unknown as Sequencer;
  const logger = pino({ level: "silent" });
  const parts = { view: () => view, sequencer, stillLeads, clock: systemClock, logger, fabric: client };
  return { state, view, proposed, turn: createNetworkKeeper(parts, never) };
}

const problemOf = (problem: unknown) => (problem === "" ? {} : { problem });
const DOMAIN = { key: "physics/blue", tenant: "physics", name: "blue", vni: 1_000, grace: 0, emptySince: null };
const OVER = { emptySince: 1, fabric: { nodes: ["n1"] } };

test("members go to the manager, then to the log, each once", async () => {
  const { turn, proposed } = world({});
  await turn();
  await turn();
  expect((await fake.networks()).vnis).toMatchObject([{ vni: 1_000, nodes: ["n1", "n2"] }]);
  expect(proposed).toEqual([
    { kind: "network.fabric", key: "physics/blue", vni: 1_000, nodes: ["n1", "n2"], problem: "" },
  ]);
});

test("an unavailable manager leaves the domain pending with the reason, and is retried", async () => {
  const { turn, proposed, state } = world({});
  await fake.faults([{ call: "PUT vni", times: 1, status: 503 }]);
  await turn();
  expect(state.domain?.fabric).toEqual({ nodes: [], problem: "it answers 503" });
  await expect.poll(() => turn().then(() => state.domain?.fabric)).toEqual({ nodes: ["n1", "n2"] });
  expect(proposed).toHaveLength(2);
});

test("a leaving node is dropped before the manager is called, even if the answer is lost", async () => {
  const { turn, proposed, state } = world({ fabric: { nodes: ["n1", "n2", "n3"] } });
  await client.put({ ...blue, nodes: ["n1", "n2", "n3"] }, never);
  await fake.faults([{ call: "PUT vni", times: 1, kind: "cut" }]);
  await turn();
  expect(proposed.map(({ nodes, problem }) => [nodes, problem])).toEqual([
    [["n1", "n2"], ""],
    [["n1", "n2"], expect.stringContaining("cannot be reached")],
  ]);
  await expect.poll(() => turn().then(() => state.domain?.fabric)).toEqual({ nodes: ["n1", "n2"] });
  expect((await fake.networks()).vnis).toMatchObject([{ nodes: ["n1", "n2"] }]);
});

test("a new member keeps a domain that is about to be deleted", async () => {
  const { turn, state, proposed } = world(OVER);
  await client.put(blue, never);
  const earlier = (await fake.networks()).calls.length;
  // As if it had been placed between the decision and the entry.
  const join = proposed.push.bind(proposed);
  proposed.push = (...commands) => {
    state.domain = { ...state.domain, emptySince: null };
    return join(...commands);
  };
  await turn();
  expect((await fake.networks()).vnis).toMatchObject([{ vni: 1_000 }]);
  const since = (await fake.networks()).calls.slice(earlier);
  expect(since.filter((call) => call.startsWith("DELETE"))).toEqual([]);
  await turn();
  expect(state.domain?.fabric).toEqual({ nodes: ["n1", "n2"] });
});

test("an ended domain is dropped, then deleted at the manager, then released", async () => {
  const { turn, proposed, state } = world(OVER);
  await client.put(blue, never);
  await fake.faults([{ call: "DELETE vni", times: 1, kind: "cut" }]);
  await turn();
  expect(state.domain?.fabric).toMatchObject({ nodes: [], problem: expect.stringContaining("cannot be reached") });
  await expect.poll(() => turn().then(() => state.domain)).toBeNull();
  expect(proposed.map(({ kind }) => kind)).toEqual(["network.fabric", "network.fabric", "network.release"]);
  expect((await fake.networks()).vnis).toEqual([]);
});

test("a missing network is created again, and one without an owner is deleted", async () => {
  const { turn } = world({ fabric: { nodes: ["n1", "n2"] } });
  await fake.plant({ vni: 1_005, owner: "east", nodes: ["n7"] });
  await fake.plant({ vni: 900, owner: "east", nodes: ["n7"] });
  await turn();
  expect((await fake.networks()).vnis.map(({ vni }) => vni).sort()).toEqual([1_000, 900].sort());
});

test.each([
  ["new members", {}],
  ["a node to remove", { fabric: { nodes: ["n1", "n2", "n3"] } }],
  ["an ended domain", OVER],
  ["an unregistered domain", { emptySince: 1 }],
  ["members to repair", { fabric: { nodes: ["n1", "n2"] } }],
])("a former leader with %s in its old state does not call the manager", async (_name, domain) => {
  const { turn, proposed } = world(domain, async () => false);
  await client.put({ ...blue, nodes: ["n8"] }, never);
  await fake.plant({ vni: 1_005, owner: "east", nodes: ["n9"] });
  await turn();
  expect((await fake.networks()).vnis.map(({ vni, nodes }) => [vni, nodes])).toEqual([
    [1_000, ["n8"]],
    [1_005, ["n9"]],
  ]);
  expect(proposed.filter(({ kind, problem }) => kind === "network.release" || problem !== "")).toEqual([]);
});

test("the grace period and remaining work keep a domain; without a manager it is released at once", () => {
  const { view } = world({ emptySince: 1_000, grace: duration(500) });
  expect(decideNetworks(view, instant(1_499))).toEqual([]);
  expect(decideNetworks(view, instant(1_500))).toMatchObject([{ kind: "forget" }]);
  const claims = [{ allocation: "1", releasing: true }];
  const record = { spec: { tenant: "physics" }, network: { domain: "blue" } };
  const left = { ...view, nodes: () => [{ id: "n1", claims }], allocation: () => record } as unknown as View;
  expect(decideNetworks(left, instant(1_500))).toMatchObject([{ kind: "put", nodes: ["n1"] }]);
  const plain = { ...view, network: {} } as unknown as View;
  expect(decideNetworks(plain, instant(1_500))).toMatchObject([{ kind: "release" }]);
});
