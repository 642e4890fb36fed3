// Bodies: JSON or YAML by their content type. Without one, and with the type that curl puts on
// everything it is given by -d, the text itself decides: what does not begin like a JSON object is
// tried as YAML.

import { type Json, parseBody } from "@lattice/wire";

const UNSAID = new Set(["", "application/x-www-form-urlencoded"]);

export async function readBody(contentType: string | undefined, bytes: Buffer): Promise<Json | undefined> {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!UNSAID.has(type)) return parseBody(contentType, bytes);
  return parseBody(looksLikeJson(bytes) ? "application/json" : "application/yaml", bytes);
}


const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

function looksLikeJson(bytes: Buffer): boolean {
  const first = bytes.find((byte) => !SPACE.has(byte));
  return first === 0x7b || first === 0x5b;
}
