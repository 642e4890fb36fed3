// The names that each form of an import binds.

import { expect, test } from "vitest";
import { bindingsOf } from "./imports.ts";

test.each([
  ['import { a, type B as C } from "./x.ts";', { names: ["a", "B"], exported: [] }],
  ['export { a, type B as C } from "./x.ts";', { names: ["a", "B"], exported: ["a", "C"] }],
  ['export type * from "./x.ts";', { names: null, exported: null }],
  ['import * as x from "./x.ts";\nx.a(x.b);', { names: ["a", "b"], exported: [] }],
  ['import * as x from "./x.ts";\nrun(x);', { names: null, exported: [] }],
  ['const { a, b: c } = await import("./x.ts");', { names: ["a", "b"], exported: [] }],
  ['const y = (await import("./x.ts")).a;', { names: ["a"], exported: [] }],
  ['type T = import("./x.ts").A;', { names: ["A"], exported: [] }],
  ['const load = () => import("./x.ts");', { names: null, exported: [] }],
])("the names of an import are found: %s", (text, expected) => {
  expect(bindingsOf({ path: "a.ts", text })).toEqual([{ specifier: "./x.ts", ...expected }]);
});
