// The signatures of the audit log on three real servers: every record is signed with the cluster's key across a killed
// leader and a rotation, an export is verified without the cluster, and every kind of tampering is detected.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { Quorum } from "../harness/quorum.ts";

interface Verdict {
  readonly ok: boolean;
  readonly problem: string;
  readonly records: number;
  readonly unsigned_records: number;
  readonly unendorsed_keys: readonly string[];
}

interface Key {
  readonly key_id: string;
  readonly first_record: string;
  readonly last_record: string;
}

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 3, nodes: 1 });
});
afterAll(() => quorum?.close());

const act = async (n: number, name: string): Promise<void> => {
  const made = await quorum.cli(n, "admin", "tenant", "create", name);
  expect(made.code, made.stderr).toBe(0);
};

async function verdict(n: number): Promise<Verdict> {
  const told = await quorum.cli(n, "audit", "verify", "-o", "json");
  return JSON.parse(told.stdout) as Verdict;
}

/** Waits until the leader has signed everything. */
const signed = (n: number): Promise<Verdict> =>
  eventually({ what: `every record is signed on server ${n}` }, async () => {
    const found = await verdict(n);
    expect(found.problem).toBe("");
    return found.unsigned_records === 0 ? found : null;
  });

const keyFilesOf = (n: number): readonly string[] =>
  readdirSync(join(quorum.dir, `server-${n}`, "audit", "keys")).sort();

async function exported(n: number, name: string): Promise<{ readonly file: string; readonly keys: string }> {
  const [file, keys] = [join(quorum.dir, `${name}.jsonl`), join(quorum.dir, `${name}.keys.json`)];
  const done = await quorum.cli(n, "audit", "export", "--file", file, "--key-file", keys);
  expect(done.code, done.stderr).toBe(0);
  return { file, keys };
}

/** Without any server. */
async function verifyOffline(file: string, ...flags: readonly string[]) {
  const env = { LATTICE_API_URL: "http://127.0.0.1:9", HOME: quorum.dir };
  const { code, stdout, stderr } = await runCli(["audit", "verify", file, ...flags], { env });
  return { code, said: stdout + stderr };
}

const keysIn = (path: string): readonly Key[] => (JSON.parse(readFileSync(path, "utf8")) as { keys: Key[] }).keys;

test("all members have the same key, and the next leader signs after the first one was killed", async () => {
  await act(1, "before");
  const { records } = await signed(2);
  expect(records).toBeGreaterThan(5);
  await eventually({ what: "the key is on every member" }, () =>
    [2, 3].every((n) => keyFilesOf(n).join() === keyFilesOf(1).join()) ? true : null,
  );
  const killed = await quorum.leader();
  await quorum.server(killed).kill();
  const other = (killed % 3) + 1;
  await eventually({ what: "another server leads" }, async () => {
    const made = await quorum.cli(other, "admin", "tenant", "create", "after");
    return made.code === 0 ? true : null;
  });
  expect((await signed(other)).records).toBe(records + 1);
  await quorum.startServer(killed);
  expect((await signed(killed)).records).toBe(records + 1);
});

test("records of the old and the new key are verified after a rotation, on every server and offline", async () => {
  const old = await exported(1, "old");
  const rotated = await quorum.cli(2, "admin", "audit-key", "rotate", "-o", "json");
  expect(rotated.code, rotated.stderr).toBe(0);
  const told = JSON.parse(rotated.stdout) as { key_id: string; servers: number; keys: Key[] };
  expect(told.servers).toBe(3);
  await act(3, "rotated");
  for (const n of [1, 2, 3]) expect(await signed(n)).toMatchObject({ ok: true, unendorsed_keys: [] });

  const { file, keys } = await exported(3, "new");
  const [first, second] = keysIn(keys);
  expect([first?.first_record, second?.key_id, second?.last_record]).toEqual(["1", told.key_id, ""]);
  expect(Number(second?.first_record)).toBe(Number(first?.last_record) + 1);
  const used = new Set(
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { key_id: string }).key_id),
  );
  expect([...used]).toEqual([first?.key_id, second?.key_id]);
  expect(await verifyOffline(file, "--key-file", keys)).toMatchObject({
    code: 0,
    said: expect.stringMatching(/hash chain intact, all signed/),
  });
  // A verifier that trusts the old key accepts the new one, and the old key alone is not enough for new records.
  expect((await verifyOffline(file, "--key-file", keys, "--trust", old.keys)).code).toBe(0);
  expect((await verifyOffline(file, "--key-file", old.keys)).said).toMatch(/which is not a key of the cluster/);
  // The old private key is gone from every server.
  await eventually({ what: "only the new key is left" }, () =>
    [1, 2, 3].every((n) => keyFilesOf(n).join() === `${told.key_id}.pem`) ? true : null,
  );
});

test("a new leader signs with the rotated key", async () => {
  const target = (await quorum.leader()) === 1 ? 2 : 1;
  const moved = await quorum.cli(3, "admin", "raft", "transfer-leader", `server-${target}`);
  expect(moved.code, moved.stderr).toBe(0);
  await act(3, "moved");
  expect(await signed(3)).toMatchObject({ ok: true });
});

test("a changed, removed, moved or forged record is detected offline", async () => {
  const { file, keys } = await exported(1, "tampered");
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const tamper = async (change: (lines: string[]) => readonly string[]): Promise<string> => {
    writeFileSync(file, `${change([...lines]).join("\n")}\n`);
    const { code, said } = await verifyOffline(file, "--key-file", keys);
    expect(code, said).toBe(1);
    return said;
  };
  const at = lines.findIndex((line) => line.includes('"before"'));
  const edit = (change: (record: Record<string, string>) => Record<string, string>) => (all: string[]) =>
    all.with(at, JSON.stringify(change(JSON.parse(all[at] ?? "") as Record<string, string>)));
  expect(await tamper(edit((record) => ({ ...record, user: "eve" })))).toMatch(/was changed/);
  expect(await tamper((all) => all.toSpliced(at, 1))).toMatch(/missing or out of order/);
  expect(await tamper((all) => all.toSpliced(at, 2, all[at + 1] ?? "", all[at] ?? ""))).toMatch(/out of order/);
  expect(await tamper(edit(({ signature: _signature, key_id: _key, ...record }) => record))).toMatch(/is not signed/);
  const other = (JSON.parse(lines[at + 1] ?? "") as Record<string, string>).signature ?? "";
  expect(await tamper(edit((record) => ({ ...record, signature: other })))).toMatch(/was not signed with the key/);
});
