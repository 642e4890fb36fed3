// Checks a certificate renewal: the current certificate was issued by the signing authority, is valid, and names the
// node; the new key is strong enough, and the agent proves its possession.

import { createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import { type Bearer, nodeMismatch, renewalText } from "@lattice/wire";

interface RenewalRequest {
  readonly bearer: Bearer;
  /** DER of the presented certificate. */
  readonly raw: Buffer;
  readonly node: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  readonly proof: Uint8Array;
}

interface RenewalProblem {
  readonly code: "unauthenticated" | "forbidden" | "invalid_argument";
  readonly detail: string;
}

const MAX_KEY_BYTES = 1_024;
const CURVES: readonly string[] = ["prime256v1", "secp384r1"];

/** Returns `null` when the certificate may be renewed. */
export function renewalProblem(
  { bearer, raw, node, publicKey, proof }: RenewalRequest,
  { authority, nowMs }: { readonly authority: string; readonly nowMs: number },
): RenewalProblem | null {
  const another = nodeMismatch(bearer, node);
  if (another !== null) return { code: "forbidden", detail: another };
  const shown = new X509Certificate(raw);
  const issuer = new X509Certificate(authority);
  if (!shown.checkIssued(issuer) || !shown.verify(issuer.publicKey))
    return { code: "forbidden", detail: "Another authority issued the certificate, so this one cannot renew it." };
  // The connection may be older than the certificate's end.
  if (Date.parse(shown.validTo) <= nowMs) return { code: "unauthenticated", detail: "The certificate has expired." };
  return keyProblem({ node, publicKey, proof });
}

/** Returns `null` when the key is strong enough and the agent has proved its possession. */
export function keyProblem({
  node,
  publicKey,
  proof,
}: Pick<RenewalRequest, "node" | "publicKey" | "proof">): RenewalProblem | null {
  const key = readKey(publicKey);
  if (key === null)
    return { code: "invalid_argument", detail: "public_key must be an elliptic-curve key, P-256 or P-384." };
  if (!proves(key, renewalText(node, publicKey), proof))
    return { code: "invalid_argument", detail: "proof was not signed with the new key." };
  return null;
}

function readKey(der: Uint8Array): KeyObject | null {
  if (der.length > MAX_KEY_BYTES) return null;
  try {
    const key = createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
    return CURVES.includes(key.asymmetricKeyDetails?.namedCurve ?? "") ? key : null;
  } catch {
    return null;
  }
}

function proves(key: KeyObject, text: Uint8Array, proof: Uint8Array): boolean {
  try {
    return verify("sha256", text, key, proof);
  } catch {
    return false;
  }
}
