// Writes all generated files: the wire code from `proto/`, and the
// reference pages from the tables in the packages. Tests fail when a derived file differs from
// what this makes, so run it after changing a proto, the error catalogue, a state machine or a setting.
//
//   node tools/generate.mjs [--baseline]
//
// With --baseline, the contract as it is now becomes the one that later changes must not break. That
// is done with a release, and never to get a change through.
import { spawnSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = (name) => join(root, "node_modules", ".bin", name);

run(bin("buf"), ["lint"]);
if (process.argv.includes("--baseline")) {
  run(bin("buf"), ["build", "proto", "--exclude-source-info", "-o", "proto/baseline/lattice.binpb"]);
}
run(bin("buf"), ["generate"]);
run(bin("buf"), ["generate", "--template", "buf.gen.etcd.yaml"]);
run(process.execPath, ["tools/generate-sdk.mjs"]);
// With UPDATE=1 the tests that compare the reference pages write them.
const pages = [
  "packages/core/test/state-machines.test.ts",
  "packages/wire/test/errors/catalogue.test.ts",
  "packages/server/test/api/rpcs.test.ts",
  "packages/server/test/base/config/production.test.ts",
];
run(bin("vitest"), ["run", "--project", "unit", ...pages], { UPDATE: "1" });

function run(program, args, more = {}) {
  // buf searches its plugin on the PATH.
  const path = [join(root, "node_modules", ".bin"), process.env.PATH ?? ""].join(delimiter);
  const env = { ...process.env, PATH: path, ...more };
  const done = spawnSync(program, args, { cwd: root, stdio: "inherit", env });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
