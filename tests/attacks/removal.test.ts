// Attacks on the removal of what an attempt leaves (finding 14): folders that are swapped for links while root removes
// them, trees that are too deep, mounts, and helper processes that their user stops. Before, root removed files of the
// folder that a link named, and such trees stayed for ever.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const bob = useAccount("b");
const secured = useSecuredCluster();
const python = (script: string) => ["/usr/bin/python3", "-c", script];
/** A start, and the wait for the last checkpoint at its end, of three allocations in a row. */
const ENDS_WITHIN_MS = 40_000;
const scratchRoot = (): string => join(secured.cluster.dir, "agent-n1", "scratch");
/** Empty folders that are kept for the next attempt have no user in their name. */
const leftovers = (): readonly string[] =>
  readdirSync(scratchRoot(), { recursive: true, encoding: "utf8" }).filter(
    (name) => name !== ".trash" && !/^\.trash\/[^/]*@$/.test(name),
  );

const isCleared = (): Promise<true> =>
  eventually({ what: "the scratch folders are removed" }, async () => (leftovers().length === 0 ? true : null));

/** Another process of the user on the node, as a job of a shared node or a terminal would be. */
function asMallory(script: string) {
  const child = spawn("/usr/bin/setpriv", [
    ...[`--reuid=${mallory.uid}`, `--regid=${mallory.gid}`, "--clear-groups", "/usr/bin/python3", "-c", script],
  ]);
  return { stop: () => child.kill("SIGKILL") };
}

test("a folder that is swapped for a link while it is removed leads nowhere", async () => {
  const victim = join(secured.victim, "many");
  mkdirSync(victim);
  for (let n = 0; n < 200; n += 1) writeFileSync(join(victim, `f${n * 500}`), "");
  const id = await secured.submit(mallory, {
    command: python(`
import os
os.chdir(os.environ["LATTICE_SCRATCH"]); os.mkdir("d")
for n in range(100000): os.close(os.open("d/f%d" % n, os.O_CREAT | os.O_WRONLY))
os.symlink("${victim}", "link")`),
  });
  const scratch = join(scratchRoot(), `${id}.1`);
  // It holds the folder open, so that only its content can be taken from it.
  const racer = asMallory(`
import os, ctypes
libc = ctypes.CDLL(None, use_errno=True)
while True:
    try: folder = os.open("${scratch}", os.O_RDONLY | os.O_DIRECTORY); break
    except OSError: pass
def last():
    try: return "link" in os.listdir(folder)
    except OSError: return False
while not last(): pass
# The removal is under way when the first of the files is gone.
while True:
    try: os.stat("d/f0", dir_fd=folder)
    except OSError: break
while True: libc.renameat2(folder, b"d", folder, b"link", 2)`);
  expect((await secured.ends(id)).state).toBe("completed");
  await isCleared();
  racer.stop();
  expect(readdirSync(victim)).toHaveLength(200);
});

test("a tree that is deeper than descriptors last is removed", async () => {
  const id = await secured.submit(mallory, {
    command: python(`
import os
os.chdir(os.environ["LATTICE_SCRATCH"])
for n in range(1500): os.mkdir("d"); os.chdir("d")
os.chmod("..", 0)`),
  });
  expect((await secured.ends(id)).state).toBe("completed");
  await isCleared();
});

test("a user that stops every process of its own does not keep the node or other users waiting", async () => {
  const stopper = asMallory(`
import os, signal
own = os.getpid()
while True:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(pid) != own and open("/proc/%s/comm" % pid).read() == "lattice-files\\n": os.kill(int(pid), signal.SIGSTOP)
        except OSError: pass`);
  const held: string[] = [];
  for (let n = 0; n < 3; n += 1)
    held.push(
      await secured.submit(mallory, {
        checkpoint: "signal",
        command: ["/bin/sh", "-c", "echo 1 >$LATTICE_CHECKPOINT_DONE"],
      }),
    );
  const since = Date.now();
  for (const id of held) expect((await secured.ends(id)).state).toBe("completed");
  expect(Date.now() - since).toBeLessThan(ENDS_WITHIN_MS);
  stopper.stop();
  const id = await secured.submit(bob, { command: ["true"] });
  expect((await secured.ends(id)).state).toBe("completed");
  await isCleared();
});

test("checkpoints of an ended allocation are removed with its user's rights only", async () => {
  const victim = join(secured.victim, "1");
  mkdirSync(victim);
  const id = await secured.submit(mallory, {
    checkpoint: "signal",
    command: ["/bin/sh", "-c", `rmdir $LATTICE_CHECKPOINT_DIR; ln -s ${secured.victim} $LATTICE_CHECKPOINT_DIR`],
  });
  expect((await secured.ends(id)).state).toBe("completed");
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(existsSync(victim)).toBe(true);
});
