// Attacks on folders of an allocation that its user can write, and that the root agent uses again: links and pipes in
// the place of folders and files.
import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster();
const sh = (script: string) => ["/bin/sh", "-c", script];

test("a link in the place of the checkpoint folder gives no folder away", async () => {
  const script = `if [ $LATTICE_ATTEMPT = 1 ]; then rmdir $LATTICE_CHECKPOINT_DIR
    ln -s ${secured.victim} $LATTICE_CHECKPOINT_DIR; exit 1; fi`;
  const id = await secured.submit(mallory, { command: sh(script), requeue_policy: "always", max_requeue: 1 });
  const ended = await secured.ends(id);
  expect(statSync(secured.victim).uid).toBe(0);
  expect(statSync(join(secured.victim, "precious")).uid).toBe(0);
  expect(ended.message ?? "").toContain("checkpoints");
});

test("a link in the place of a scratch folder or control folder is not followed by its removal", async () => {
  const script = `mkdir -p $LATTICE_SCRATCH/d; cd $LATTICE_SCRATCH/d; touch precious; cd ..; rm -r d
    ln -s ${secured.victim} d; ln -s ${secured.victim} $LATTICE_CHECKPOINT_CONTROL/d`;
  const id = await secured.submit(mallory, { command: sh(script), checkpoint: "signal" });
  expect((await secured.ends(id)).state).toBe("completed");
  expect(readdirSync(secured.victim)).toEqual(["precious"]);
});

test("an allocation folder of another user is refused", async () => {
  const id = await secured.submit(mallory, { command: sh("echo $LATTICE_OUTPUT_DIR") });
  expect((await secured.ends(id)).state).toBe("completed");
  const own = join(secured.outputDir, "default", "default", id);
  expect(lstatSync(own)).toMatchObject({ uid: mallory.uid });
  expect(lstatSync(join(secured.outputDir, "default", "default")).uid).toBe(0);
  expect(existsSync(join(own, "checkpoints"))).toBe(true);
});
