// Parses a request body, JSON or YAML by its content type, into a plain value. The YAML library is loaded on first use,
// because most callers never send YAML. Interpreting the value is the caller's task.

import { ProblemError } from "../errors/problem.ts";
import type { Json } from "../json/value.ts";
import { parseJsonText } from "./json-text.ts";
import { type BodyLimits, DEFAULT_BODY_LIMITS } from "./limits.ts";

/** Returns undefined for an empty body. Rejects with a ProblemError. */
export async function parseBody(
  contentType: string | undefined,
  body: string | Uint8Array,
  limits: BodyLimits = DEFAULT_BODY_LIMITS,
): Promise<Json | undefined> {
  const format = bodyFormat(contentType);
  refuseLarge(body, limits);
  const text = textOf(body);
  if (text.trim() === "") return undefined;
  if (format === "json") return parseJsonText(text, limits);
  const { parseYamlText } = await import("./yaml-text.ts");
  return parseYamlText(text, limits);
}

const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json|text\/json)$/;
const YAML_TYPE = /^(?:application|text)\/(?:x-yaml|yaml|vnd\.yaml|[\w.+-]+\+yaml)$/;

/** No content type means JSON. */
function bodyFormat(contentType: string | undefined): "json" | "yaml" {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "" || JSON_TYPE.test(type)) return "json";
  if (YAML_TYPE.test(type)) return "yaml";
  throw new ProblemError("unsupported_media_type", {
    detail: `content type "${type.slice(0, 100)}" is not supported`,
  });
}

function refuseLarge(body: string | Uint8Array, { maxBytes }: BodyLimits): void {
  // Every UTF-16 unit of a string is at least one byte.
  if (body.length > maxBytes) {
    throw new ProblemError("body_too_large", { detail: `the body is larger than ${maxBytes} bytes` });
  }
}

/** Decodes UTF-8 and drops a byte order mark. */
function textOf(body: string | Uint8Array): string {
  if (typeof body === "string") return body.startsWith("\ufeff") ? body.slice(1) : body;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw new ProblemError("malformed_body", {
      detail: "the body is not valid UTF-8",
      hint: "Save the file as UTF-8.",
      cause,
    });
  }
}
