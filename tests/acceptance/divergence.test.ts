// A server whose state differs from that of the other servers: it becomes visible by itself, stops serving, and serves again
// after a restart. The fault is in the memory of one process; its log is intact.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { root } from "../harness/program.ts";
import { Quorum } from "../harness/quorum.ts";
import { request } from "../harness/rest.ts";

const DAMAGED = 3;
const PRELOAD = join(root, "tests/acceptance/programs/damaged-fold.mjs");
/** The environment of a server that folds entries with this word wrongly. */
const damagedBy = (word: string) => (n: number) =>
  n === DAMAGED ? { NODE_OPTIONS: `--import ${PRELOAD}`, DAMAGED_WORD: word } : {};

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 1, env: damagedBy("first-flip") });
});
afterAll(() => quorum?.close());

interface Member {
  readonly id: string;
  readonly diverged?: boolean;
  readonly state_index?: string;
  readonly state_hash?: string;
}

const members = async (n: number) => {
  const { body } = await quorum.api<{ members: Member[] }>(n, "GET", "/raft/status");
  return new Map(body.members.map((member) => [member.id, member]));
};
const readiness = (n: number) => request<{ reason?: string }>(quorum.url(n), "GET", "/readyz");
const metrics = async (n: number) => (await request(quorum.url(n), "GET", "/metrics")).text;
const notices = async () => {
  const { body } = await quorum.api<{ notices?: { kind: string; text: string }[] }>(1, "GET", "/notices");
  return (body.notices ?? []).filter(({ kind }) => kind === "state_diverged");
};

test("servers show equal state hashes at the same entry", async () => {
  await quorum.submit(1, { entrypoint: "true", name: "harmless" });
  const all = await eventually({ what: "every member shows its hash at one entry" }, async () => {
    const shown = [...(await members(1)).values()];
    return new Set(shown.map(({ state_index }) => state_index ?? "none")).size === 1 ? shown : null;
  });
  expect(all).toHaveLength(3);
  expect(all[0]?.state_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(all.map(({ state_hash }) => state_hash)).size).toBe(1);
  expect(all.some(({ diverged }) => diverged === true)).toBe(false);
});

test("a diverged follower becomes visible, refuses calls, and serves again after a restart", async () => {
  await quorum.submit(1, { entrypoint: "true", name: "first-flip" });
  const { body } = await eventually({ what: "the damaged server is not ready" }, async () => {
    const answer = await readiness(DAMAGED);
    return answer.status === 503 && answer.text.includes("differs") ? answer : null;
  });
  expect(JSON.stringify(body)).toMatch(/restart/i);
  const refused = await quorum.api(DAMAGED, "GET", "/allocations");
  expect(refused).toMatchObject({
    status: 503,
    body: { code: "state_diverged", hint: expect.stringMatching(/restart/i) },
  });
  expect((await quorum.api(DAMAGED, "POST", "/allocations", { body: { entrypoint: "true" } })).status).toBe(503);
  expect(await metrics(DAMAGED)).toMatch(/^lattice_state_diverged 1$/m);
  expect(await metrics(1)).toMatch(/^lattice_state_diverged 0$/m);

  const [notice] = await eventually({ what: "a notice names the server" }, async () => {
    const found = await notices();
    return found.length === 0 ? null : found;
  });
  expect(notice?.text).toContain("server-3");
  const shown = await quorum.cli(1, "admin", "raft", "status");
  expect(shown.stdout).toMatch(/server-3 .*diverged/);
  expect(shown.stdout).not.toMatch(/server-[12] .*diverged/);
  expect((await members(DAMAGED)).get("server-3")?.diverged).toBe(true);

  const id = await quorum.submit(1, { entrypoint: "true" });
  await quorum.reaches(2, id, "completed");
  await quorum.server(DAMAGED).stop();
  quorum.configure({ env: () => ({}) });
  await quorum.startServer(DAMAGED);
  await eventually({ what: "the notice is cleared" }, async () => ((await notices()).length === 0 ? true : null));
  expect(await quorum.state(DAMAGED, id)).toBe("completed");
  expect((await members(1)).get("server-3")?.diverged ?? false).toBe(false);
});

test("a diverged leader hands the lead to another server", async () => {
  await quorum.server(DAMAGED).stop();
  quorum.configure({ env: damagedBy("second-flip") });
  await quorum.startServer(DAMAGED);
  await eventually({ what: "the damaged server leads" }, async () => {
    await quorum.cli(1, "admin", "raft", "transfer-leader", "server-3", "--yes");
    return (await quorum.leader()) === DAMAGED ? true : null;
  });
  await quorum.submit(1, { entrypoint: "true", name: "second-flip" });
  await eventually({ what: "another server leads" }, async () => ((await quorum.leader()) === DAMAGED ? null : true));
  expect((await readiness(DAMAGED)).status).toBe(503);
  const id = await eventually({ what: "the new leader accepts work" }, () =>
    quorum.submit(1, { entrypoint: "true" }).catch(() => null),
  );
  await quorum.reaches(2, id, "completed");
});
