// Attacks on data mounts (finding 2 of the review): sources and targets that change between the check and the mount,
// places that are not the user's, and places that the agent needs.
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const scratch = `/mnt/lattice-attack-${process.pid}`;
const mallory = useAccount("m");
const bob = useAccount("b");
const secured = useSecuredCluster({ agentArgs: ["--scratch-dir", scratch] });
const sh = (script: string) => ["/bin/sh", "-c", script];
const mount = (source: string, target: string) => ({ data: { mounts: [{ source, target }] } });
const TRIES = 12;

afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 9 }));

test("a source that is swapped for a folder below another's home is never mounted", async () => {
  bob.run("mkdir -m 755 ~/p; echo secret-of-bob >~/p/s");
  mallory.run("mkdir ~/own; echo mine >~/own/s; ln -s ~/own ~/s");
  const stop = mallory.keepRunning(`cd; while :; do ln -s ${bob.home}/p t; mv -T t s; ln -s ~/own t; mv -T t s; done`);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const id = await secured.submit(mallory, { command: sh("cat /mnt/x/s"), ...mount(`${mallory.home}/s`, "/mnt/x") });
    const { state, message } = await secured.ends(id);
    if (state === "failed") expect(message).toContain("(mounts)");
    expect(await secured.logs(mallory, id)).not.toContain("secret-of-bob");
  }
  stop();
});

test("a target that is swapped for a link to a folder of root's is never mounted on", async () => {
  mkdirSync(join(secured.victim, "t"));
  mallory.run(`mkdir -p ~/d/t ~/evil; ln -s ${secured.victim} ~/l`);
  const stop = mallory.keepRunning("cd; while :; do mv -T d h; mv -T l d; mv -T d l; mv -T h d; done");
  for (let tries = 0; tries < TRIES; tries += 1) {
    const command = sh(`! grep -F ' ${secured.victim}/t ' /proc/self/mountinfo`);
    const id = await secured.submit(mallory, { command, ...mount(`${mallory.home}/evil`, `${mallory.home}/d/t`) });
    const { state, message } = await secured.ends(id);
    if (state === "failed") expect(message).toContain("(mounts)");
  }
  stop();
});

test("nothing is made or mounted below another's home, nor in the place of a home", async () => {
  bob.run("mkdir -m 755 ~/q");
  mallory.run("mkdir ~/e");
  const newcomer = `/home/newcomer-${process.pid}`;
  for (const target of [`${bob.home}/q/x`, newcomer]) {
    const id = await secured.submit(mallory, { command: ["true"], ...mount(`${mallory.home}/e`, target) });
    const ended = await secured.ends(id);
    expect(ended).toMatchObject({ state: "failed" });
    expect(ended.message).toContain("(mounts)");
    expect(existsSync(target)).toBe(false);
  }
});

test("root makes no folder of a name that a user chose, except an empty one in the places for mounts", async () => {
  mallory.run("mkdir ~/g");
  const name = `of-mallory-${process.pid}`;
  const absent = ["/scratch", "/projects"].filter((place) => !existsSync(place));
  for (const target of [`/opt/${name}`, `/scratch/${name}`, `/projects/${name}`, `/mnt/${name}/below`]) {
    const id = await secured.submit(mallory, { command: ["true"], ...mount(`${mallory.home}/g`, target) });
    const ended = await secured.ends(id);
    expect(ended, target).toMatchObject({ state: "failed" });
    expect(ended.message, target).toContain("cannot be made for the mount");
    expect(existsSync(target), target).toBe(false);
  }
  const made = `/mnt/${name}`;
  const id = await secured.submit(mallory, { command: ["true"], ...mount(`${mallory.home}/g`, made) });
  expect(await secured.ends(id)).toMatchObject({ state: "completed" });
  expect(readdirSync(made)).toEqual([]);
  expect(statSync(made)).toMatchObject({ uid: 0, mode: 0o040755 });
  for (const path of [made, ...absent]) rmdirSync(path);
});

test("folders of the agent are not mounted over, from above or inside", async () => {
  mallory.run("mkdir ~/f");
  for (const target of [scratch, "/mnt", `${scratch}/new`]) {
    const id = await secured.submit(mallory, { command: ["true"], ...mount(`${mallory.home}/f`, target) });
    const ended = await secured.ends(id);
    expect(ended).toMatchObject({ state: "failed" });
    expect(ended.message).toContain("has folders of the agent");
  }
  writeFileSync(join(scratch, "probe"), "");
});
