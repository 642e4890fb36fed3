// The page of metrics, with those of the library.

import { expect, test } from "vitest";
import { createMetrics } from "../../../src/base/observe/index.ts";

test("exactly the counters of the page end in _total", async () => {
  const page = await createMetrics().render();
  const families = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", kind = ""]) => ({ name, kind }));
  expect(families.length).toBeGreaterThan(80);
  expect(families.filter(({ name, kind }) => (kind === "counter") !== name.endsWith("_total"))).toEqual([]);
  expect(families.map(({ name }) => name)).toContain("nodejs_active_handles");
});
