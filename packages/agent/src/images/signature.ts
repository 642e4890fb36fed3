// Detached image signatures: Ed25519 over the text of the digest, so that a signature can be made and checked without
// reading the image. Keys are PEM files that the site installs on its nodes.

import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { readFileSync } from "node:fs";

export interface Trust {
  readonly keys: readonly KeyObject[];
  /** Images without a valid signature are refused. */
  readonly required: boolean;
}

export function loadTrust(files: readonly string[], required: boolean): Trust {
  return { keys: files.map((file) => createPublicKey(readFileSync(file))), required };
}

/** Returns why the image may not be used, or null. */
export function signatureProblem(
  image: { readonly name: string; readonly digest: string; readonly signature: string | null },
  { keys, required }: Trust,
  asked: boolean,
): string | null {
  if (!required && !asked) return null;
  if (image.signature === null) return `${image.name} is not signed, and only signed images may be used here`;
  if (keys.length === 0) return "no key is trusted on this node (--trusted-key), so no signature can be checked";
  const signature = Buffer.from(image.signature, "base64");
  const good = keys.some((key) => verify(null, Buffer.from(image.digest), key, signature));
  return good ? null : `the signature of ${image.name} was not made by a key that is trusted on this node`;
}
