// Renewal of certificates: the name stays, the key is proved, and foreign, expired and revoked certificates are
// refused.

import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { PeerCertificate } from "node:tls";
import { create } from "@bufbuild/protobuf";
import { Metadata } from "@grpc/grpc-js";
import {
  certifyAgain,
  issue,
  makeAuthority,
  type Pem,
  pb,
  renewalText,
  serialDigits,
  writeRevocations,
} from "@lattice/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { TlsConfig } from "../../../src/base/config/index.ts";
import { openTlsSource, type TlsSource } from "../../../src/base/tls/source.ts";
import { createAgentGuard } from "../../../src/nodes/agents/guard.ts";
import { createRenewal } from "../../../src/nodes/agents/renewal.ts";
import { createTestClock } from "../clock.ts";
import { type CertifiedServer, certifiedServer, DAY } from "./certified-server.ts";

const logger = pino({ level: "silent" });
let server: CertifiedServer;
let authority: Pem;
let tls: TlsSource;

beforeAll(async () => {
  server = await certifiedServer();
  ({ authority, tls } = server);
});
afterAll(() => server.close());

const agentOf = (name: string, by: Pem, lifetimeMs = DAY) =>
  issue(by, { name, kind: "agent", site: "alps", hosts: [], lifetimeMs });

/** As a listener reports it. */
function shownAs(pem: string): PeerCertificate {
  const { subject, serialNumber, raw, subjectAltName } = new X509Certificate(pem);
  const field = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(subject)?.[1];
  return { subject: { CN: field("CN"), OU: field("OU") }, serialNumber, raw, subjectaltname: subjectAltName } as never;
}

interface Asked {
  readonly node?: string;
  readonly shown: string | null;
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly proofBy?: KeyObject;
  readonly source?: TlsSource | null;
  readonly nowMs?: number;
  readonly known?: boolean;
}

function renewalFor({ source = tls, nowMs = Date.now(), known = true }: Asked) {
  const counted = vi.fn();
  const clock = createTestClock(nowMs);
  return { counted, renew: createRenewal({ tls: source, known: () => known, clock, logger, counted }) };
}

function ask(renew: ReturnType<typeof createRenewal>, asked: Asked): Promise<string> {
  const keys = asked.keys ?? generateKeyPairSync("ec", { namedCurve: "P-256" });
  const node = asked.node ?? "n1";
  const publicKey = keys.publicKey.export({ type: "spki", format: "der" });
  const proof = sign("sha256", renewalText(node, publicKey), asked.proofBy ?? keys.privateKey);
  const request = create(pb.RenewCertificateRequestSchema, { nodeId: node, publicKey, proof });
  const sslPeerCertificate = asked.shown === null ? undefined : shownAs(asked.shown);
  return new Promise((resolve) => {
    renew({ request, getAuthContext: () => ({ sslPeerCertificate }) }, (error, answer) =>
      resolve(error === null ? (answer?.certificate ?? "") : `refused: ${error.details}`),
    );
  });
}

async function outcome(asked: Asked): Promise<string> {
  const { renew, counted } = renewalFor(asked);
  const said = await ask(renew, asked);
  expect(counted).toHaveBeenCalledExactlyOnceWith(said.startsWith("refused") ? "refused" : "issued");
  return said;
}

test("a valid certificate is renewed with the same name for the presented key", async () => {
  const { cert } = await agentOf("n1", authority);
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const next = new X509Certificate(await outcome({ shown: cert, keys }));
  const old = new X509Certificate(cert);
  expect(next.subject).toBe(old.subject);
  expect(next.subjectAltName).toContain(`${old.subjectAltName}, `);
  expect(next.checkPrivateKey(keys.privateKey)).toBe(true);
  expect(next.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  const life = Date.parse(next.validTo) - Date.now();
  expect(life).toBeGreaterThan(3_500_000);
  expect(life).toBeLessThanOrEqual(3_600_000);
});

test("renewal is refused for another node, another authority and after expiry", async () => {
  const { cert } = await agentOf("n1", authority);
  expect(await outcome({ shown: cert, node: "n2" })).toMatch(/certificate is for n1/);
  expect(await outcome({ shown: cert, node: "../n1" })).toMatch(/not a valid node name/);
  expect(await outcome({ shown: null })).toMatch(/valid certificate/);
  expect(await outcome({ shown: cert, known: false })).toMatch(/no node "n1"/);
  expect(await outcome({ shown: cert, nowMs: Date.now() + 2 * DAY })).toMatch(/has expired/);
  const foreign = await makeAuthority("alps", DAY);
  expect(await outcome({ shown: (await agentOf("n1", foreign)).cert })).toMatch(/Another authority/);
  const person = await issue(authority, { name: "n1", kind: "client", site: "alps", hosts: [], lifetimeMs: DAY });
  expect(await outcome({ shown: person.cert })).toMatch(/belongs to a client/);
  expect(await outcome({ shown: cert, source: null })).toMatch(/does not renew/);
});

test("a renewal needs a strong key", async () => {
  const { cert } = await agentOf("n1", authority);
  const another = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  expect(await outcome({ shown: cert, proofBy: another })).toMatch(/not signed with the new key/);
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 });
  expect(await outcome({ shown: cert, keys: weak })).toMatch(/elliptic-curve/);
});

test("repeated renewals are rate-limited", async () => {
  const { cert } = await agentOf("n1", authority);
  const { renew } = renewalFor({ shown: cert });
  expect(await ask(renew, { shown: cert })).toContain("BEGIN CERTIFICATE");
  expect(await ask(renew, { shown: cert })).toMatch(/a moment ago/);
});

test("a revoked certificate is refused, and its open streams end", async () => {
  const { cert } = await agentOf("n7", authority);
  const { cert: good } = await agentOf("n8", authority);
  const guard = createAgentGuard({ authenticator: null, certificates: true, revocations: tls });
  const connect = vi.fn();
  const { implementation } = guard.guarded({ definition: {}, implementation: { connect } as never });
  const errors: string[] = [];
  const open = async (name: string, pem: string) => {
    const call = {
      metadata: new Metadata(),
      getAuthContext: () => ({ sslPeerCertificate: shownAs(pem) }),
      emit: (_event: string, error: { details: string }) => errors.push(`${name}: ${error.details}`),
    };
    (implementation as unknown as { connect(call: unknown): void }).connect(call);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await open("n7", cert);
  await open("n8", good);
  expect([connect.mock.calls.length, errors]).toEqual([2, []]);
  const serial = serialDigits(new X509Certificate(cert).serialNumber);
  writeFileSync(server.file("ca.crl"), await writeRevocations(authority, [{ serial, at: new Date() }]));
  const taken = new Promise((resolve) => tls.onChange(resolve));
  tls.reload();
  await taken;
  expect(errors).toEqual([expect.stringMatching(/^n7: .*revoked/)]);
  await open("n7 again", cert);
  expect([connect.mock.calls.length, errors.length]).toEqual([2, 2]);
  // Nor is a renewal of it valid.
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const old = new X509Certificate(cert).raw;
  await open("n7 renewed", await certifyAgain(authority, { old, lifetimeMs: DAY }, spki));
  expect([connect.mock.calls.length, errors.length]).toEqual([2, 3]);
  await open("n8 again", good);
  expect(connect.mock.calls.length).toBe(3);
});

test("mismatched authority files stop the start, with the file's name", async () => {
  const opened = (change: Partial<TlsConfig>) => openTlsSource({ config: { ...server.config, ...change }, logger });
  await expect(opened({ caKey: server.file("s1.key") })).rejects.toThrow(
    /api.tls_ca_key: .* is not the key of an authority/,
  );
  await expect(opened({ crl: server.file("s1.crt") })).rejects.toThrow(/api.tls_crl: .* cannot be used/);
  await expect(opened({ crl: server.file("none") })).rejects.toThrow(/api.tls_crl: .* cannot be read/);
  writeFileSync(server.file("empty"), "");
  await expect(opened({ crl: server.file("empty") })).rejects.toThrow(/api.tls_crl/);
  await expect(opened({ ca: server.file("empty") })).rejects.toThrow(/api.tls_ca: .* is not a valid PEM file/);
  const foreign = await makeAuthority("alps", DAY);
  writeFileSync(server.file("foreign.crl"), await writeRevocations(foreign, []));
  await expect(opened({ crl: server.file("foreign.crl") })).rejects.toThrow(/not signed by the authority/);
});
