// Jobs end although the disk is full: on a real file system of a few kilobytes where root may mount one; the parts that
// need no mount use a runtime that refuses.

import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { found } from "../fake-server.ts";
import { alive, type Rig, rig } from "../rig.ts";

const succeeds = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

function mountSmall(): string | null {
  const dir = mkdtempSync(join(tmpdir(), "lattice-agent-full-"));
  if (succeeds("mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", dir)) return dir;
  rmSync(dir, { recursive: true, maxRetries: 9 });
  return null;
}

function fill(dir: string): void {
  const file = openSync(join(dir, "filler"), "w");
  const block = Buffer.alloc(4096);
  try {
    for (;;) writeSync(file, block);
  } catch {
    // Full, as wanted.
  } finally {
    closeSync(file);
  }
}

const probe = mountSmall();
if (probe !== null) {
  succeeds("umount", probe);
  rmSync(probe, { recursive: true, maxRetries: 9 });

  test.each([
    ["a stop", "stopped", { stop: true, walltimeSeconds: 0 }],
    ["the walltime", "walltime_exceeded", { stop: false, walltimeSeconds: 1 }],
  ])("%s ends a job on a full disk", async (_name, reason, { stop, walltimeSeconds }) => {
    const dir = mountSmall() ?? "";
    let r: Rig | null = null;
    try {
      r = await rig({ dataDir: dir });
      // The stop has to be carried through to SIGKILL; the walltime to SIGTERM.
      const entrypoint = `${stop ? "trap '' TERM; " : ""}echo $$; while :; do sleep 0.1; done`;
      r.server.run({ allocationId: "1", entrypoint, walltimeSeconds, graceSeconds: 1 });
      const pid = Number(await found(() => r?.file("1", "stdout").endsWith("\n") && r.file("1", "stdout")));
      fill(dir);
      if (stop) r.server.stop({ allocationId: "1", graceSeconds: 1 });
      expect(await r.server.end("1")).toMatchObject({ reason });
      expect(alive(pid)).toBe(false);
      // Nor does it begin a job that it could not remember.
      r.server.run({ allocationId: "2", entrypoint: "echo ran" });
      expect(await r.server.end("2")).toMatchObject({ reason: "launch_failed" });
      rmSync(join(dir, "filler"));
      r.server.run({ allocationId: "3", entrypoint: "echo ran" });
      expect(await r.server.end("3")).toMatchObject({ exitCode: 0 });
    } finally {
      await r?.close().catch(() => undefined);
      succeeds("umount", "--lazy", dir);
      rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
    }
  });
} else {
  test("root may not mount here", () => expect(mountSmall()).toBeNull());
}
