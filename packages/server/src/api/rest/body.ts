// Bodies: JSON or YAML by their content type. Without one, and with the type that curl puts on
// everything it is given by -d, JSON is tried first and YAML second.

import { type Json, ProblemError, parseBody } from "@lattice/wire";

const UNSAID = new Set(["", "application/x-www-form-urlencoded"]);

export async function readBody(contentType: string | undefined, bytes: Buffer): Promise<Json | undefined> {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!UNSAID.has(type)) return parseBody(contentType, bytes);
  try {
    return await parseBody("application/json", bytes);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "malformed_body") throw error;
    // A body that looks like JSON gets the errors of the JSON parser.
    return parseBody("application/yaml", bytes).catch((asYaml: unknown) => {
      throw looksLikeJson(bytes) ? error : asYaml;
    });
  }
}

const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

function looksLikeJson(bytes: Buffer): boolean {
  const first = bytes.find((byte) => !SPACE.has(byte));
  return first === 0x7b || first === 0x5b;
}
