// The client has a method for every unary call of the contract; the names are the generator's.

import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient, createFetchTransport } from "../src/index.ts";

interface CallName {
  readonly ts: string;
}

test("the client has every unary call", async () => {
  const table = join(import.meta.dirname, "../../../tools/sdk/names.mjs");
  const { CALLS: names } = (await import(table)) as { readonly CALLS: Readonly<Record<string, CallName>> };
  const client = createClient({ url: "http://localhost:1", transport: createFetchTransport() });
  for (const [rpc, { ts }] of Object.entries(names)) {
    const [method = "", group] = ts.split(".").reverse();
    const calls = (group === undefined ? client : client[group as "nodes"]) as unknown as Record<string, unknown>;
    expect(typeof calls[method], `${rpc} is not client.${ts}`).toBe("function");
  }
});
