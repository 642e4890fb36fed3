// What a request is about, for the access log: the first of the contract's names for things that it has filled in.

import type { Message } from "@bufbuild/protobuf";

const NAMES = ["id", "allocationId", "sessionId", "nodeId", "node", "name", "key", "image", "tenant", "user"] as const;

/** "": it is about nothing in particular. */
export function targetOf(message: Message): string {
  const fields = message as unknown as Readonly<Record<string, unknown>>;
  for (const name of NAMES) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  const { message: body } = fields as { message?: { case?: string; value?: unknown } };
  return body?.case === "start" && isMessage(body.value) ? targetOf(body.value) : "";
}

const isMessage = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && "$typeName" in value;
