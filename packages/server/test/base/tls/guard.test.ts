// The identity of a certificate: a node's certificate is valid for that node only, a user's for no node, and a
// forwarded identity only with the servers' token.

import type { PeerCertificate } from "node:tls";
import { Metadata } from "@grpc/grpc-js";
import { bearerOf, nodeMismatch } from "@lattice/wire";
import { expect, test, vi } from "vitest";
import { createAgentGuard, type GuardOptions } from "../../../src/nodes/agents/guard.ts";
import { guardedByCertificate } from "../../../src/peers/guard.ts";

const certificate = (CN: string, OU = "", subjectaltname = ""): PeerCertificate =>
  ({ subject: { CN, ...(OU === "" ? {} : { OU }) }, subjectaltname }) as unknown as PeerCertificate;

test("names: in the form of the site, bare, or SPIFFE; the name of a node may contain dots", () => {
  expect(bearerOf(certificate("x1000c0s0b0n0.alps.lattice.internal", "agent")).names).toEqual(["x1000c0s0b0n0"]);
  expect(bearerOf(certificate("rack.1.node.alps.lattice.internal")).names).toEqual(["rack.1.node"]);
  expect(bearerOf(certificate("nid001", "", "DNS:a, URI:spiffe://alps/agent/nid002")).names).toEqual(["nid002"]);
  const node = bearerOf(certificate("n1.alps.lattice.internal", "agent"));
  expect(nodeMismatch(node, "n1")).toBeNull();
  expect(nodeMismatch(node, "n2")).toBe("the certificate is for n1, the hello for n2");
  expect(nodeMismatch(node, "n1.alps")).not.toBeNull();
  expect(nodeMismatch(bearerOf(certificate("n1", "client")), "n1")).toMatch(/belongs to a client/);
});

test.each([
  ["spiffe://alps/agent/n1", null],
  ["spiffe://alps/agent/n%31", null],
  ["spiffe://alps/ns/x/sa/n1", /no kind of bearer/],
  ["spiffe://alps/n1", /no kind of bearer/],
  ["spiffe://alps/server/n1", /belongs to a server/],
  ["spiffe://alps/client/n1", /belongs to a client/],
])("the SPIFFE name %s is read by its whole form", (uri, why) => {
  const problem = nodeMismatch(bearerOf(certificate("anything", "", `URI:${uri}`)), "n1");
  if (why === null) expect(problem).toBeNull();
  else expect(problem).toMatch(why);
});

test("configured SPIFFE names of agents replace the usual form, trust domain included", () => {
  const nodeOf = (uri: string) =>
    nodeMismatch(bearerOf(certificate("x", "", `URI:${uri}`), "spiffe://alps/node/{node}"), "n1");
  expect(nodeOf("spiffe://alps/node/n1")).toBeNull();
  for (const other of ["spiffe://other/node/n1", "spiffe://alps/agent/n1", "spiffe://alps/node/x/n1"])
    expect(nodeOf(other)).toMatch(/no kind of bearer/);
});

test("a certificate without a kind belongs to no node", () => {
  expect(nodeMismatch(bearerOf(certificate("n1")), "n1")).toMatch(/no kind of bearer/);
});

interface Call {
  readonly metadata: Metadata;
  getAuthContext(): { sslPeerCertificate?: PeerCertificate | undefined };
  emit(event: string, error: { code: number; details: string }): boolean;
}

function callWith(shown: PeerCertificate | undefined, headers: Record<string, string> = {}) {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const errors: string[] = [];
  const call: Call = {
    metadata,
    getAuthContext: () => (shown === undefined ? {} : { sslPeerCertificate: shown }),
    emit: (_event, error) => errors.push(error.details) > 0,
  };
  return { call, errors };
}

async function served(options: Partial<GuardOptions>, shown: PeerCertificate | undefined, headers = {}) {
  const guard = createAgentGuard({ authenticator: null, certificates: true, peerToken: "peers", ...options });
  const connect = vi.fn();
  const { implementation } = guard.guarded({ definition: {}, implementation: { connect } as never });
  const { call, errors } = callWith(shown, headers);
  (implementation as unknown as { connect(call: Call): void }).connect(call);
  await new Promise((resolve) => setImmediate(resolve));
  return { served: connect.mock.calls.length === 1, errors, stranger: (node: string) => guard.refusal(call, node) };
}

test("an agent's certificate is accepted only for its own node", async () => {
  const refused = vi.fn();
  const good = await served({ refused }, certificate("n1.alps.lattice.internal", "agent"));
  expect([good.served, good.stranger("n1"), refused.mock.calls.length]).toEqual([true, null, 0]);
  expect(good.stranger("n2")).toMatch(/the hello for n2/);
  expect(refused).toHaveBeenCalledOnce();
  const naked = await served({}, undefined);
  expect([naked.served, naked.errors]).toEqual([false, [expect.stringContaining("needs a certificate")]]);
  expect((await served({}, certificate("ada.alps.lattice.internal", "client"))).served).toBe(false);
  expect((await served({}, certificate("s1.alps.lattice.internal", "server"))).served).toBe(false);
});

test("a forwarded identity needs the token of the servers", async () => {
  const header = encodeURIComponent(JSON.stringify({ subject: { CN: "n1", OU: "agent" } }));
  const server = certificate("s2.alps.lattice.internal", "server");
  const passedOn = await served({}, server, { "x-lattice-agent": header, "x-lattice-peer-token": "peers" });
  const [name] = Object.entries({ passedOn });
  expect([name?.[0], passedOn.served, passedOn.served ? passedOn.stranger("n1") : ""]).toEqual([
    "passedOn",
    true,
    null,
  ]);
  const forged = certificate("n2.alps.lattice.internal", "agent");
  const lied = await served({}, forged, { "x-lattice-agent": header, "x-lattice-peer-token": "guessed" });
  expect(lied.stranger("n1")).toMatch(/certificate is for n2/);
});

test("server certificates are neither those of agents nor of users", () => {
  const propose = vi.fn();
  const { implementation } = guardedByCertificate(
    { definition: {}, implementation: { propose } as never },
    ({ serialNumber }) => serialNumber === "BAD",
  );
  const ask = (shown: PeerCertificate | undefined) => {
    const { call, errors } = callWith(shown);
    (implementation as unknown as { propose(call: Call): void }).propose(call);
    return errors;
  };
  expect(ask(certificate("s2.alps.lattice.internal", "server"))).toEqual([]);
  expect(ask(certificate("n1.alps.lattice.internal", "agent"))).toEqual([
    expect.stringContaining("is of kind agent, not server"),
  ]);
  expect(ask(undefined)).toEqual([expect.stringContaining("must present a certificate")]);
  expect(propose).toHaveBeenCalledOnce();
});
