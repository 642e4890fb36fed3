// Enrolment tokens on the agents' service: only for a first certificate, with the right secret, from the networks of the
// enrolment, until its end, and for nodes that it admits.

import { Metadata } from "@grpc/grpc-js";
import { type Enrolment, instant, type NodeId, type UserName, type View } from "@lattice/core";
import { enrolmentToken } from "@lattice/wire";
import { expect, test, vi } from "vitest";
import { enrolmentHash } from "../../../src/nodes/agents/enrolled.ts";
import { type AgentGuard, createAgentGuard, type GuardOptions } from "../../../src/nodes/agents/guard.ts";

const ID = "0123456789ab";
const SECRET = "s".repeat(43);
const TOKEN = enrolmentToken({ id: ID, secret: SECRET });

const enrolment = (change: Partial<Enrolment> = {}): Enrolment => ({
  id: ID,
  hash: enrolmentHash(SECRET),
  limit: 1,
  until: instant(2_000),
  networks: ["10.1.0.0/16"],
  by: "ada" as UserName,
  at: instant(0),
  nodes: [],
  ...change,
});

interface Called {
  readonly token?: string;
  readonly peer?: string;
  readonly rpc?: "issueCertificate" | "renewCertificate";
  readonly stored?: Enrolment | null;
  readonly options?: Partial<GuardOptions>;
}

async function call({ token = TOKEN, peer = "10.1.2.3:4000", rpc = "issueCertificate", ...rest }: Called) {
  const { stored = enrolment(), options } = rest;
  const view = {
    enrolment: (id: string) => (id === ID && stored !== null ? stored : undefined),
    node: (id: string) => (id === "old" ? {} : undefined),
  } as unknown as View;
  const guard: AgentGuard = createAgentGuard({
    authenticator: null,
    certificates: true,
    enrolments: { view: () => view, now: () => 1_000 },
    ...options,
  });
  const method = vi.fn();
  const { implementation } = guard.guarded({ definition: {}, implementation: { [rpc]: method } as never });
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const shown = { metadata, getPeer: () => peer, getAuthContext: () => ({}) };
  const refused = await new Promise<string>((resolve) => {
    method.mockImplementation(() => resolve(""));
    const run = (implementation as unknown as Record<string, (call: object, reply: (e: Error) => void) => void>)[rpc];
    run?.(shown, (error) => resolve((error as { details?: string }).details ?? "refused"));
  });
  const refusal = (node: string) => guard.refusal(shown, node);
  return { refused, enrolled: guard.enrolmentOf(shown), user: guard.tokenOf(shown), refusal };
}

test("a token of an enrolment identifies the enrolment and the address, and no user", async () => {
  const { refused, enrolled, user, refusal } = await call({});
  expect([refused, enrolled, user]).toEqual(["", expect.objectContaining({ id: ID, address: "10.1.2.3" }), null]);
  expect(refusal("n1")).toBeNull();
  expect(refusal("old")).toMatch(/old is registered already/);
});

test("a used-up enrolment admits the nodes that used it", async () => {
  const { refusal } = await call({ stored: enrolment({ nodes: ["n1" as NodeId] }) });
  expect([refusal("n1"), refusal("n2")]).toEqual([null, expect.stringMatching(/is used up/)]);
});

test("an expired enrolment admits no node", async () => {
  expect((await call({ stored: enrolment({ until: instant(1_000) }) })).refusal("n1")).toMatch(/has expired/);
});

test.each<[string, Called, RegExp]>([
  ["another call", { rpc: "renewCertificate" }, /only obtains a first certificate/],
  [
    "another network",
    { peer: "10.2.0.1:4000" },
    /for nodes in 10\.1\.0\.0\/16, and this one connects from 10\.2\.0\.1/,
  ],
  ["an unknown address", { peer: "unix:/tmp/socket" }, /from an unknown address/],
  ["another secret", { token: enrolmentToken({ id: ID, secret: "t".repeat(43) }) }, /unknown/],
  ["another id", { token: enrolmentToken({ id: "ba9876543210", secret: SECRET }) }, /unknown/],
  ["a removed enrolment", { stored: null }, /removed, or another cluster made it/],
  ["a damaged token", { token: TOKEN.slice(0, -1) }, /needs a certificate/],
])("%s is refused", async (_, called, words) => {
  const { refused, enrolled } = await call(called);
  expect(refused).toMatch(words);
  expect(enrolled).toBeNull();
});
