// Two users on one node: neither sees the other's /tmp and /dev/shm, or the node's; all processes of one job share them.
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const bob = useAccount("b");
const secured = useSecuredCluster();
const sh = (script: string) => ["/bin/sh", "-c", script];
const MARK = `lattice-of-bob-${process.pid}`;
const places = ["/tmp", "/dev/shm"];

afterAll(() => {
  for (const place of places) rmSync(join(place, MARK), { force: true });
});

test("a job's /tmp and /dev/shm are its own", async () => {
  const make = places.map((place) => `echo bobs >${place}/${MARK}`).join("; ");
  const running = await secured.submit(bob, { command: sh(`${make}; echo made; exec sleep 300`), workdir: "/" });
  await secured.reaches(running, ["running"]);
  await eventually({ what: "its files are there" }, async () =>
    (await secured.logs(bob, running)).includes("made") ? true : null,
  );
  for (const place of places) {
    expect(existsSync(join(place, MARK))).toBe(false);
    const shown = await secured.as(bob, ["launch", "--alloc", running, "-n1", "--", "cat", join(place, MARK)]);
    expect(shown, shown.stderr).toMatchObject({ code: 0, stdout: "bobs\n" });
    const attached = await secured.as(bob, ["attach", running, `--command=cat ${join(place, MARK)}`]);
    expect(attached.stdout.replaceAll("\r", ""), attached.stderr).toBe("bobs\n");
  }
  const folder = join(secured.cluster.dir, "agent-n1", "attempts", `${running}.1`);
  expect(() => mallory.run(`ls ${folder}/private/tmp`)).toThrow();
  expect(readdirSync(join(folder, "private", "tmp"))).toContain(MARK);
  await secured.as(bob, ["cancel", running]);
  await secured.ends(running);
  await eventually({ what: "the content is removed with the job" }, async () =>
    [folder, folder.replace("/attempts/", "/ended/")].every((path) => !existsSync(join(path, "private"))) ? true : null,
  );
});

test("files of the node's /tmp are not visible to a job, nor writable", async () => {
  for (const place of places) writeFileSync(join(place, MARK), "node\n", { mode: 0o644 });
  const look = places.map((place) => `ls -A ${place}`).join("; ");
  const id = await secured.submit(mallory, { command: sh(look), workdir: "/" });
  expect(await secured.ends(id)).toMatchObject({ state: "completed" });
  expect(await secured.logs(mallory, id)).not.toContain(MARK);
});
