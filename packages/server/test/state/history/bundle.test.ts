// History in the built server: two bundles side by side, the database package outside of them.

import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";

const SOURCE = fileURLToPath(new URL("../../../src/state/history", import.meta.url));

test("the thread starts from its own bundle", async () => {
  const dir = await mkdtemp(join(tmpdir(), "lattice-bundle-"));
  try {
    await build({
      entryPoints: { server: join(SOURCE, "index.ts"), "history-worker": join(SOURCE, "worker.ts") },
      outdir: dir,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["@photostructure/sqlite"],
    });
    const sqlite = createRequire(import.meta.url).resolve("@photostructure/sqlite/package.json");
    await symlink(join(dirname(sqlite), "../.."), join(dir, "node_modules"));
    await writeFile(join(dir, "package.json"), '{"type":"module"}');
    await writeFile(
      join(dir, "main.js"),
      `import { openHistory } from "./server.js";
       const history = await openHistory({ dir: process.argv[2] });
       const spec = { tenant: "t", vcluster: "v", name: "n" };
       await history.append([{ index: 1, record: { id: "5", user: "u", spec, submittedAt: 1, phase: { kind: "failed", endedAt: 2 } } }]);
       console.log(JSON.stringify(await history.list({ limit: 1, user: "u" })));
       await history.close();`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [join(dir, "main.js"), join(dir, "data")]);
    expect(JSON.parse(stdout)).toMatchObject([{ id: "5", phase: { kind: "failed" } }]);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 9 });
  }
});
