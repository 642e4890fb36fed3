// Strict base64 for bytes fields, on top of the implementation of protobuf-es.

import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

export const formatBytes = (bytes: Uint8Array): string => base64Encode(bytes);

/** Returns `null` for text that is not base64. Accepts the URL alphabet and missing padding. */
export function parseBytes(text: string): Uint8Array | null {
  if (!BASE64.test(text) || text.replace(/=+$/, "").length % 4 === 1) return null;
  return base64Decode(text);
}
