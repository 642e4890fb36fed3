// The usage calls: where they ask, and with what.

import { expect, test } from "vitest";
import { createClient, type Transport } from "../src/index.ts";

test("usage of a tenant and of a user", async () => {
  const asked: string[] = [];
  const transport: Transport = async ({ method, url }) => {
    asked.push(`${method} ${url}`);
    return { status: 200, headers: {}, body: one('{"node_hours":1.5,"days":7,"since":"a","until":"b"}') };
  };
  const client = createClient({ url: "http://x", transport });
  expect((await client.usage.user()).node_hours).toBe(1.5);
  await client.usage.user({ user: "ada", tenant: "physics", days: 7 });
  await client.usage.tenant("a/b", { since: "2026-03-01" });
  expect(asked).toEqual([
    "GET http://x/api/v1/usage",
    "GET http://x/api/v1/usage?user=ada&tenant=physics&days=7",
    "GET http://x/api/v1/tenants/a%2Fb/usage?since=2026-03-01",
  ]);
});

async function* one(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}
