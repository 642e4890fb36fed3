// Converts private keys between PEM and the platform's form.

import { library } from "./library.ts";

/** The signature algorithms of authorities; a key is imported as the first one that matches. */
const ALGORITHMS = [
  { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
] as const;

interface SigningKey {
  readonly key: CryptoKey;
  readonly algorithm: (typeof ALGORITHMS)[number];
}

/** Throws for a key of another kind. */
export async function importSigningKey(pem: string): Promise<SigningKey> {
  const { PemConverter } = await library();
  const [der] = PemConverter.decode(pem);
  for (const algorithm of der === undefined ? [] : ALGORITHMS) {
    const key = await crypto.subtle.importKey("pkcs8", der ?? new ArrayBuffer(0), algorithm, false, ["sign"]).then(
      (imported) => imported,
      () => null,
    );
    if (key !== null) return { key, algorithm };
  }
  throw new Error("the authority's key must be in PEM (PKCS #8), of an elliptic curve P-256 or P-384, or RSA");
}

export async function keyToPem(key: CryptoKey): Promise<string> {
  const { PemConverter } = await library();
  return `${PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), PemConverter.PrivateKeyTag)}\n`;
}
