// Writes everything that is derived from another file: the wire code from `proto/`, and the
// reference pages from the tables in the packages. Tests fail when a derived file differs from
// what this makes, so run it after changing a proto, the error catalogue or a state machine.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = (name) => join(root, "node_modules", ".bin", name);

run(bin("buf"), ["lint"]);
run(bin("buf"), ["generate"]);
// Pages and fixtures are written by the tests that compare them, when told to.
run(bin("vitest"), ["run", "--project", "unit", "--update", "-t", "generated"], { UPDATE_GENERATED: "1" });

function run(program, args, env = {}) {
  const done = spawnSync(program, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
