// Agents of one launch that show each other their certificates: those of their nodes meet, one with another's name, or of
// another authority, does not, and a certificate for clients alone is not listened with.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, expect, test } from "vitest";
import type { IdentitySource } from "../../src/identity/identity.ts";
import type { PmiEntry } from "../../src/tasks/base/name-types.ts";
import { type FencePeers, fencePeers } from "../../src/tasks/fence/peers.ts";
import { byCertificates, trustOf } from "../../src/tasks/fence/trust.ts";
import { found } from "../fake-server.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-fence-trust-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));
const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
const at = (name: string): string => join(folder, name);
const openssl = (...words: string[]): void => void execFileSync("openssl", words, { stdio: "ignore" });

function authority(name: string): void {
  const subject = ["-subj", `/CN=${name}`, "-days", "2"];
  openssl("req", "-x509", ...CURVE, "-keyout", at(`${name}.key`), "-out", at(`${name}.pem`), ...subject);
}

interface IdentityFields {
  readonly ca?: string;
  readonly unit?: string;
  readonly usage?: string;
}

let serial = 0;
function identityOf(node: string, { ca = "ca", unit = "agent", usage = "clientAuth,serverAuth" }: IdentityFields = {}) {
  serial += 1;
  const file = at(`node-${serial}`);
  const subject = `/CN=${node}.site.lattice.internal/OU=${unit}`;
  openssl("req", ...CURVE, "-keyout", `${file}.key`, "-out", `${file}.csr`, "-subj", subject);
  writeFileSync(`${file}.ext`, `extendedKeyUsage=${usage}\n`);
  const signing = ["-CA", at(`${ca}.pem`), "-CAkey", at(`${ca}.key`), "-set_serial", String(serial), "-days", "2"];
  openssl("x509", "-req", "-in", `${file}.csr`, "-out", `${file}.pem`, ...signing, "-extfile", `${file}.ext`);
  const identity = {
    cert: readFileSync(`${file}.pem`),
    key: readFileSync(`${file}.key`),
    ca: readFileSync(at("ca.pem")),
  };
  const source: IdentitySource = { current: () => identity, onChange: () => undefined, close: () => undefined };
  return source;
}

/** Several tries of the dialing agent. */
const REFUSED_WITHIN_MS = 400;

authority("ca");
authority("other");

const listening = (source: IdentitySource): Promise<FencePeers> =>
  fencePeers("127.0.0.1:0", "127.0.0.1", byCertificates(source));

const ignored = (): void => undefined;

/** Two nodes, the second below the first: what the first got to know. `patienceMs`: null for as long as it takes. */
async function meet(top: IdentitySource, below: IdentitySource, patienceMs: number | null) {
  const nodes = [await listening(top), await listening(below)] as const;
  let got = null as readonly PmiEntry[] | null;
  const place = { key: "secret", belowNodes: ["n2"], aboveNode: "n1" };
  const first = nodes[0].join(
    "launch",
    create(pb.FencePlaceSchema, { ...place, own: 0, below: [1] }),
    (_number, entries) => {
      got = entries;
    },
    ignored,
  );
  const above = nodes[0].address;
  const second = nodes[1].join("launch", create(pb.FencePlaceSchema, { ...place, own: 1, above }), ignored, ignored);
  first.bring(1, [["a", "1"]]);
  second.bring(1, [["b", "2"]]);
  if (patienceMs === null) await found(() => got);
  else await new Promise((resolve) => setTimeout(resolve, patienceMs));
  first.leave();
  second.leave();
  for (const node of nodes) node.close();
  return got;
}

test("nodes with their own certificates exchange", async () => {
  expect(await meet(identityOf("n1"), identityOf("n2"), null)).toEqual([
    ["a", "1"],
    ["b", "2"],
  ]);
});

test.each([
  ["whose certificate is another node's", () => [identityOf("n1"), identityOf("n3")]],
  ["whose certificate is a person's", () => [identityOf("n1"), identityOf("n2", { unit: "client" })]],
  ["of another authority", () => [identityOf("n1"), identityOf("n2", { ca: "other" })]],
  ["that dials one with another node's certificate", () => [identityOf("n9"), identityOf("n2")]],
] as const)("one %s does not", async (_how, made) => {
  const [top, below] = made();
  if (top === undefined || below === undefined) throw new Error("two are needed");
  expect(await meet(top, below, REFUSED_WITHIN_MS)).toBeNull();
});

test("a node that may not listen reports the reason", () => {
  expect(trustOf(null, true)).toMatchObject({ ok: false, error: expect.stringContaining("no certificate") });
  const clientOnly = trustOf(identityOf("n1", { usage: "clientAuth" }), true);
  expect(clientOnly).toMatchObject({ ok: false, error: expect.stringContaining("does not allow serving") });
  expect(trustOf(identityOf("n1"), true).ok).toBe(true);
  expect(trustOf(null, false).ok).toBe(true);
});
