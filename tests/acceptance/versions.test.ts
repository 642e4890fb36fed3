// A server of the current version beside one of a made-up next version, on one log: work runs whichever of them leads, a
// command of the next version is refused while the older server is present and accepted when it is gone, and an older
// server that reads a newer entry stops.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { root } from "../harness/program.ts";
import { Quorum } from "../harness/quorum.ts";
import type { Problem } from "../harness/rest.ts";

const OLD = 1;
const NEXT = 2;

const bundles = mkdtempSync(join(tmpdir(), "lattice-versions-"));
const folderOf = (version: "current" | "next"): string => join(bundles, version);
beforeAll(() => {
  for (const version of ["current", "next"] as const) {
    mkdirSync(folderOf(version));
    const args = ["tools/build.mjs", `--into=${folderOf(version)}`, `--version=${version}`, "lattice-server"];
    execFileSync(process.execPath, [...args, "history-worker", "planner-worker"], { cwd: root, stdio: "inherit" });
  }
});
afterAll(() => rmSync(bundles, { recursive: true, force: true, maxRetries: 9 }));

const sideBySide = (nodes: number): Promise<Quorum> =>
  Quorum.start({
    servers: 2,
    nodes,
    path: (n) => join(folderOf(n === OLD ? "current" : "next"), "lattice-server.js"),
  });

/** Stops the leader until the wanted server leads. */
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

describe("two versions on one log", () => {
  let quorum: Quorum;
  beforeAll(async () => {
    quorum = await sideBySide(2);
  });
  afterAll(() => quorum?.close());

  test("work runs whichever of them leads, and both have the same state", async () => {
    for (const leader of [OLD, NEXT, OLD]) {
      await letLead(quorum, leader);
      for (const by of [OLD, NEXT]) {
        const id = await quorum.submit(by, { entrypoint: `echo led by ${leader}` });
        await quorum.reaches(OLD, id, "completed");
        await quorum.reaches(NEXT, id, "completed");
      }
    }
    const hashes = await eventually({ what: "both stand at one index" }, async () => {
      const both = await Promise.all([OLD, NEXT].map(async (n) => (await quorum.api(n, "GET", "/raft/status")).body));
      return new Set(both.map((one) => one.applied_index)).size === 1 ? both.map((one) => one.state_hash) : null;
    });
    expect(new Set(hashes).size).toBe(1);
  });
});

describe("a command of the next version", () => {
  let quorum: Quorum;
  let source: string;
  const restore = async () => await quorum.api<Problem>(NEXT, "POST", "/admin/restore", { body: { source } });

  beforeAll(async () => {
    quorum = await sideBySide(0);
    const backup = await quorum.api<{ source: string }>(NEXT, "POST", "/admin/backup", { body: {} });
    expect(backup.status, backup.text).toBe(200);
    source = backup.body.source;
  });
  afterAll(() => quorum?.close());

  test("is refused while the older server is present, whichever of them leads", async () => {
    for (const leader of [OLD, NEXT]) {
      await letLead(quorum, leader);
      const { status, body } = await restore();
      expect(status).toBe(409);
      expect(body.code).toBe("upgrade_unfinished");
      expect(body.detail).toContain("server-1 understands version 1");
      expect(body.hint).toContain("upgrade");
    }
    // The log does not contain the command: the older server still follows.
    expect(quorum.server(OLD).isRunning()).toBe(true);
  });

  test("is accepted when the older server is gone; the older server then stops and says what to do", async () => {
    expect(await quorum.server(OLD).stop()).toBe(0);
    const taken = await eventually({ what: "the restore is taken" }, async () => {
      const answer = await restore();
      return answer.body.code === "upgrade_unfinished" ? null : answer;
    });
    expect(taken.status, taken.text).toBe(200);

    // The older server may serve for a moment before it reads the entry.
    await quorum.startServer(OLD).catch(() => undefined);
    expect(await quorum.server(OLD).ended).toBe(1);
    const output = readFileSync(quorum.server(OLD).logFile, "utf8");
    expect(output).toMatch(/has version 2, but this program (understands|reads) versions up to 1: upgrade this server/);
    // The newer server still accepts commands.
    const answer = await quorum.api(NEXT, "POST", "/tenants", { body: { id: "physics" } });
    expect(answer.status, answer.text).toBe(200);
  });
});
