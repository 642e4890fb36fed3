// PATCH and PUT on a tenant are equal: omitted fields keep their values.

import { expect, test } from "vitest";
import { callRest, startTestApi } from "./clients.ts";

test("PUT on a tenant does what PATCH does", async () => {
  const api = await startTestApi();
  const change = (method: string, quota: object) =>
    callRest(api, {
      method,
      path: "/api/v1/tenants/default",
      body: JSON.stringify({ quota }),
      headers: { "x-lattice-user": "ada" },
    });
  try {
    expect(await change("PATCH", { max_concurrent_allocations: 9 })).toMatchObject({
      json: { tenant: { id: "default" } },
    });
    expect(await change("PUT", { max_nodes: 7 })).toMatchObject({ json: { tenant: { quota: { max_nodes: 7 } } } });
    const quota = [...api.plane.view().tenants()][0]?.quota;
    expect(quota).toMatchObject({ maxNodes: 7, maxConcurrentAllocations: 9 });
    expect(await change("PUT", { max_nodes: -1 })).toMatchObject({ problem: { code: "invalid_argument" } });
  } finally {
    await api.close();
  }
});
