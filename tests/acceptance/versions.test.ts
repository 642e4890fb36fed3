// A server of the version before beside a current one, on one log: work goes on whichever of them
// leads, what only the current one understands is refused while the old one is there and taken when it
// is gone, and an old one that meets what it does not understand stops instead of guessing.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { root } from "../harness/program.ts";
import { Quorum } from "../harness/quorum.ts";
import type { Problem } from "../harness/rest.ts";

const OLD = 1;
const CURRENT = 2;

const bundles = mkdtempSync(join(tmpdir(), "lattice-older-"));
beforeAll(() => {
  const args = ["tools/build.mjs", `--into=${bundles}`, "--entry-version=1", "lattice-server", "history-worker"];
  execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" });
});
afterAll(() => rmSync(bundles, { recursive: true, force: true, maxRetries: 9 }));

const sideBySide = (nodes: number): Promise<Quorum> =>
  Quorum.start({
    servers: 2,
    nodes,
    path: (n) => (n === OLD ? join(bundles, "lattice-server.js") : undefined),
  });

/** Stops whoever leads until it is the one that is wanted. */
async function letLead(quorum: Quorum, wanted: number): Promise<void> {
  await eventually({ what: `server ${wanted} leads` }, async () => {
    const leader = await quorum.leader();
    if (leader === wanted) return true;
    expect(await quorum.server(leader).stop()).toBe(0);
    await eventually({ what: "the other one leads" }, async () => ((await quorum.leader()) === wanted ? true : null));
    await quorum.startServer(leader);
    return null;
  });
}

describe("while both are there", () => {
  let quorum: Quorum;
  beforeAll(async () => {
    quorum = await sideBySide(2);
  });
  afterAll(() => quorum?.close());

  test("work goes on whichever of them leads, and both have the same state", async () => {
    for (const leader of [OLD, CURRENT, OLD]) {
      await letLead(quorum, leader);
      for (const by of [OLD, CURRENT]) {
        const id = await quorum.submit(by, { entrypoint: `echo led by ${leader}` });
        await quorum.reaches(OLD, id, "completed");
        await quorum.reaches(CURRENT, id, "completed");
      }
    }
    const hashes = await eventually({ what: "both stand at one index" }, async () => {
      const both = await Promise.all(
        [OLD, CURRENT].map(async (n) => (await quorum.api(n, "GET", "/raft/status")).body),
      );
      return new Set(both.map((one) => one.applied_index)).size === 1 ? both.map((one) => one.state_hash) : null;
    });
    expect(new Set(hashes).size).toBe(1);
  });
});

describe("a command that only the current one understands", () => {
  let quorum: Quorum;
  let source: string;
  const restore = async () => await quorum.api<Problem>(CURRENT, "POST", "/admin/restore", { body: { source } });

  beforeAll(async () => {
    quorum = await sideBySide(0);
    const backup = await quorum.api<{ source: string }>(CURRENT, "POST", "/admin/backup", { body: {} });
    expect(backup.status, backup.text).toBe(200);
    source = backup.body.source;
  });
  afterAll(() => quorum?.close());

  test("is refused while the old one is there, whichever of them leads", async () => {
    for (const leader of [OLD, CURRENT]) {
      await letLead(quorum, leader);
      const { status, body } = await restore();
      expect(status).toBe(409);
      expect(body.code).toBe("upgrade_unfinished");
      expect(body.detail).toContain("server-1 understands version 1");
      expect(body.hint).toContain("upgrade");
    }
    // Nothing of it is in the log: the old one still follows.
    expect(quorum.server(OLD).isRunning()).toBe(true);
  });

  test("is taken when it is gone; then the old one refuses to go on, and says what to do", async () => {
    expect(await quorum.server(OLD).stop()).toBe(0);
    const taken = await eventually({ what: "the restore is taken" }, async () => {
      const answer = await restore();
      return answer.body.code === "upgrade_unfinished" ? null : answer;
    });
    expect(taken.status, taken.text).toBe(200);

    // It may serve for a moment before it meets the entry.
    await quorum.startServer(OLD).catch(() => undefined);
    expect(await quorum.server(OLD).ended).toBe(1);
    const said = readFileSync(quorum.server(OLD).logFile, "utf8");
    expect(said).toMatch(/has version 2, but this program (understands|reads) versions up to 1: upgrade this server/);
    // The current one has not noticed.
    const answer = await quorum.api(CURRENT, "POST", "/tenants", { body: { id: "physics" } });
    expect(answer.status, answer.text).toBe(200);
  });
});
