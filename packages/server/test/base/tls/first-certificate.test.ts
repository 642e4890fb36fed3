// First certificates for a token: only for the node of the token, once, with a proof of the key, and not while an agent
// of that name is connected; the audit record is written first.

import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type AuditAction, logIndex, type UserName } from "@lattice/core";
import { pb, renewalText } from "@lattice/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createFirstCertificate, type FirstOptions } from "../../../src/nodes/agents/first-certificate.ts";
import { createTestClock } from "../clock.ts";
import { type CertifiedServer, certifiedServer } from "./certified-server.ts";

const logger = pino({ level: "silent" });
let server: CertifiedServer;

beforeAll(async () => {
  server = await certifiedServer();
});
afterAll(() => server.close());

const keysOf = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

interface Asked {
  readonly node?: string;
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly proofBy?: KeyObject;
}

function authorityFor(change: Partial<FirstOptions> = {}) {
  const written: (AuditAction & { readonly user: string })[] = [];
  const used: Parameters<FirstOptions["enrol"]>[0][] = [];
  const clock = createTestClock(Date.now());
  const counted = vi.fn();
  const first = createFirstCertificate({
    tls: server.tls,
    guard: {
      tokenOf: () => "n1" as UserName,
      enrolmentOf: () => null,
      refusal: (_call, node) => (node === "n1" ? null : `the token is for n1, the hello for ${node}`),
    },
    connected: () => false,
    enrol: async (use) => {
      used.push(use);
      return { outcome: { kind: "accepted", id: null } as never, index: logIndex(1) };
    },
    audit: async (user, details) => {
      written.push({ user, ...details });
      return { outcome: { kind: "accepted", id: null } as never, index: logIndex(1) };
    },
    clock,
    logger,
    counted,
    ...change,
  });
  const ask = ({ node = "n1", keys = keysOf(), proofBy = keys.privateKey }: Asked = {}): Promise<string> => {
    const publicKey = keys.publicKey.export({ type: "spki", format: "der" });
    const proof = sign("sha256", renewalText(node, publicKey), proofBy);
    const request = create(pb.IssueCertificateRequestSchema, { nodeId: node, publicKey, proof });
    return new Promise((resolve) => {
      first({ request }, (error, answer) =>
        resolve(error === null ? (answer?.certificate ?? "") : `refused: ${error.details}`),
      );
    });
  };
  return { ask, written, used, clock, counted };
}

test("the node of a token gets a certificate for its name and key, with an audit record", async () => {
  const keys = keysOf();
  const { ask, written, counted } = authorityFor();
  const given = new X509Certificate(await ask({ keys }));
  expect(given.subject.split("\n")).toEqual(["CN=n1.alps.lattice.internal", "OU=agent"]);
  // It cannot be used as a server certificate.
  expect(given.subjectAltName).toBe("URI:spiffe://alps/agent/n1");
  expect(given.checkPrivateKey(keys.privateKey)).toBe(true);
  expect(given.verify(new X509Certificate(server.authority.cert).publicKey)).toBe(true);
  expect(written).toMatchObject([{ user: "n1", action: "certificate.issue", scope: "access", node: "n1" }]);
  expect(written[0]?.detail).toContain(given.serialNumber.toLowerCase());
  expect(counted).toHaveBeenCalledExactlyOnceWith("first");
});

test("other callers are refused without an audit record", async () => {
  const cases: readonly (readonly [Partial<FirstOptions>, Asked, RegExp])[] = [
    [{}, { node: "n2" }, /token is for n1/],
    [{}, { node: "../n1" }, /not a valid node name/],
    [{ guard: { tokenOf: () => null, enrolmentOf: () => null, refusal: () => null } }, {}, /renews it/],
    [{ connected: () => true }, {}, /connected already/],
    [{ tls: null }, {}, /does not issue/],
    [{}, { proofBy: keysOf().privateKey }, /not signed with the new key/],
    [{}, { keys: generateKeyPairSync("rsa", { modulusLength: 1024 }) }, /elliptic-curve/],
  ];
  for (const [change, asked, words] of cases) {
    const { ask, written, counted } = authorityFor(change);
    expect(await ask(asked)).toMatch(words);
    expect(written).toEqual([]);
    expect(counted).toHaveBeenCalledExactlyOnceWith("refused");
  }
});

test("a node with an enrolment token is counted before it gets a certificate, and refused when the log refuses", async () => {
  const enrolmentOf = () => ({ id: "0123456789ab", address: "10.1.2.3", refusal: () => null });
  const guard = { tokenOf: () => null, enrolmentOf, refusal: () => null };
  const { ask, written, used } = authorityFor({ guard });
  const given = new X509Certificate(await ask());
  const detail = expect.stringMatching(`${given.serialNumber.toLowerCase()}.*to 10.1.2.3$`);
  expect([used, written]).toEqual([[{ id: "0123456789ab", node: "n1", detail }], []]);
  const refusal = { code: "forbidden", detail: "the enrolment 0123456789ab has expired" } as const;
  const late = authorityFor({
    guard,
    enrol: async () => ({ outcome: { kind: "rejected", refusal }, index: logIndex(1) }),
  });
  expect(await late.ask()).toBe("refused: the enrolment 0123456789ab has expired");
});

test("without an audit record no certificate is issued", async () => {
  const { ask } = authorityFor({ audit: () => Promise.reject(new Error("no server leads")) });
  expect(await ask()).toMatch(/^refused/);
});

test("repeated requests are rate-limited", async () => {
  const { ask, clock } = authorityFor();
  expect(await ask()).toContain("BEGIN CERTIFICATE");
  expect(await ask()).toMatch(/a moment ago/);
  await clock.advance(10_000);
  expect(await ask()).toContain("BEGIN CERTIFICATE");
});
