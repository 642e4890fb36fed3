// `lattice admin backup` and `restore`: requests, output and exit status.

import { expect, test } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const source = "/var/lib/lattice/backups/backup-20260305T120000Z.tar.gz";
const backup = { source, created_at: "2026-03-05T12:00:00Z", log_index: "42", bytes: 2_000, allocations: 7 };
const checks = [
  { name: "checksum", ok: true, detail: "SHA-256 abc" },
  { name: "metadata", ok: true, detail: "entry 42" },
];

test("create is the default subcommand", async () => {
  rig.answers = { "POST /api/v1/admin/backup": [200, backup] };
  expect(await rig.run("admin", "backup")).toBe(0);
  expect(rig.out).toContain(source);
  expect(await rig.run("admin", "backup", "create", "--destination", "/backups", "-o", "json")).toBe(0);
  expect(rig.requests).toEqual(["POST /api/v1/admin/backup", "POST /api/v1/admin/backup"]);
});

test("list shows backups with size and source", async () => {
  rig.answers = { "GET /api/v1/admin/backups": [200, { backups: [backup, { source: "/b/broken" }] }] };
  expect(await rig.run("admin", "backup", "list")).toBe(0);
  expect(rig.out).toMatch(/42 +2 kB +7/);
  expect(rig.out).toContain("unreadable");
  rig.out = "";
  expect(await rig.run("admin", "backup", "list", "-o", "json")).toBe(0);
  expect(JSON.parse(rig.out)).toEqual({ backups: [backup, { source: "/b/broken" }] });
  rig.out = "";
  expect(await rig.run("admin", "backup", "list", "-q")).toBe(0);
  expect(rig.out).toBe(`${source}\n/b/broken\n`);
});

test("verify shows the checks and fails for an unusable backup", async () => {
  rig.answers = { "POST /api/v1/admin/backup/verify": [200, { ok: true, backup, checks }] };
  expect(await rig.run("admin", "backup", "verify", "--source", source)).toBe(0);
  expect(rig.out).toMatch(/metadata +ok +entry 42/);
  const bad = [{ name: "checksum", ok: false, detail: "another sum" }];
  rig.answers = { "POST /api/v1/admin/backup/verify": [200, { backup, checks: bad }] };
  expect(await rig.run("admin", "backup", "verify")).toBe(5);
  expect(rig.err).toContain('does not pass the check "checksum": another sum');
  rig.out = "";
  expect(await rig.run("admin", "backup", "verify", "-o", "json")).toBe(5);
  expect(JSON.parse(rig.out)).toEqual({ backup, checks: bad });
});

test("restore shows the restored backup", async () => {
  rig.answers = { "POST /api/v1/admin/restore": [200, { backup, log_index: "9", state_hash: "h" }] };
  expect(await rig.run("admin", "restore", source)).toBe(0);
  expect(rig.err).toContain("as log index 9");
  rig.answers = {
    "POST /api/v1/admin/restore": [409, { code: "cluster_not_empty", detail: "it has nodes", status: 409 }],
  };
  expect(await rig.run("admin", "restore", source)).toBe(5);
  expect(await rig.run("admin", "restore")).toBe(2);
});
