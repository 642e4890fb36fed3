// A terminal through any of three servers: followers relay it both ways, and the limit applies to all servers
// together.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { Quorum } from "../harness/quorum.ts";

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 1, settings: { rate_limits: { attach_max_concurrent: 1 } } });
});
afterAll(() => quorum?.close());

test("any server opens a terminal, relays input and exit code, and shares the limit", async () => {
  const { code, stdout } = await quorum.cli(1, "submit", "-q", "--walltime=10m", "--", "sleep", "300");
  expect(code).toBe(0);
  const id = stdout.trim();
  await quorum.reaches(1, id, "running");
  for (const n of [1, 2, 3]) {
    const shown = await quorum.cli(n, "attach", id, `--command=echo by way of ${n}; exit ${n}`);
    expect(shown).toMatchObject({ code: n });
    expect(shown.stdout).toContain(`by way of ${n}`);
  }
  const [held, go] = [join(quorum.dir, "held"), join(quorum.dir, "go")];
  const first = quorum.cli(1, "attach", id, `--command=touch ${held}; until [ -e ${go} ]; do sleep 0.1; done`);
  await eventually({ what: "the first one is open" }, () => (existsSync(held) ? true : null));
  const others = await Promise.all([2, 3].map((n) => quorum.cli(n, "attach", id, "--command=true")));
  for (const refused of others) {
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain("maximum concurrent sessions reached (1/1)");
  }
  writeFileSync(go, "");
  expect(await first).toMatchObject({ code: 0 });
});
