// Backups of several clusters in one place, and errors that name the disk that failed.

import { join } from "node:path";
import type { UserName } from "@lattice/core";
import { afterAll, expect, test } from "vitest";
import { backupsOf, configFor, machine, NO_ARCHIVE, never, openTestHistory, temporary } from "./rig.ts";

const dir = temporary();
const history = await openTestHistory(dir);
afterAll(() => history.close());

function cluster(letter: string, place: string) {
  const one = machine();
  one.apply({ kind: "cluster.found", id: letter.repeat(32) });
  return { one, backups: backupsOf(configFor(place), one, history) };
}

const options = {
  origin: { user: "ada" as UserName, requestId: null, bodyHash: "" },
  signal: never,
  refused: () => new Error("refused"),
};
const named = (letter: string) => ({ ...options, cluster: letter.repeat(32) });
const untouched = {
  propose: async () => {
    throw new Error("nothing may be restored");
  },
};

test("the newest backup of a cluster is its own", async () => {
  const place = join(dir, "newest");
  const [ours, theirs] = [cluster("a", place), cluster("b", place)];
  const own = await ours.backups.create("", never);
  await theirs.backups.create("", never);
  expect(own.metadata?.cluster).toBe("a".repeat(32));
  expect((await ours.backups.verify("", never)).stored.name).toBe(own.name);
  const third = cluster("c", place);
  await expect(third.backups.verify("", never)).rejects.toThrow(/no backup of this cluster/);
});

test("a backup from a place of several clusters is restored only by the name of its cluster", async () => {
  const place = join(dir, "several");
  const [ours, theirs] = [cluster("a", place), cluster("b", place)];
  const own = await ours.backups.create("", never);
  await theirs.backups.create("", never);
  const fresh = cluster("c", place).backups;
  await expect(fresh.restore(own.name, untouched, options)).rejects.toMatchObject({ code: "ambiguous" });
  await expect(fresh.restore(own.name, untouched, named("b"))).rejects.toThrow(/of cluster a+, not of b+/);
  await expect(fresh.restore(own.name, untouched, named("a"))).rejects.toThrow(/nothing may be restored/);
});

test("a full disk of the server is not blamed on the destination", async () => {
  const place = join(dir, "elsewhere");
  const one = machine();
  const full = async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  const failing = { ...history, flush: full };
  const failure = backupsOf(configFor(place), one, failing).create("", never);
  await expect(failure).rejects.toThrow(/the history of this server cannot be written, in its data folder: ENOSPC/);
  const audit = backupsOf(configFor(place), one, history, { ...NO_ARCHIVE, flush: full }).create("", never);
  await expect(audit).rejects.toThrow(/the audit archive of this server .*ENOSPC/);
});
