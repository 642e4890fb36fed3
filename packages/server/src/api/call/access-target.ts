// The target of a request for the access log: the first identifying field of the contract that is not empty.

import type { Message } from "@bufbuild/protobuf";

const NAMES = ["id", "allocationId", "sessionId", "nodeId", "node", "name", "key", "image", "tenant", "user"] as const;

/** Returns "" when the request has no target. */
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
