// Devices that a control group of v2 is kept from, by the kernel itself: a process inside may not open them, and all
// other devices keep working.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlGroupMounts } from "../../src/host/isolation/detect.ts";
import { denyDevices, whyNotDeny } from "../../src/host/isolation/devices/deny.ts";
import { type Device, deviceProgram, parseDevice } from "../../src/host/isolation/devices/program.ts";
import { limitGroups } from "../../src/host/isolation/limit-groups.ts";

const { v2 } = controlGroupMounts(readFileSync("/proc/self/mountinfo", "utf8"));
const base = join(v2 ?? "/nowhere", `lattice-test-devices-${process.pid}`);
const why = await whyNotDeny(`${base}-probe`);

describe("the program", () => {
  /** As the kernel would run it. */
  function allows(denied: readonly Device[], kind: number, asked: Device): boolean {
    const program = deviceProgram(denied);
    const context = [(7 << 16) | kind, asked.major, asked.minor];
    const registers = [0, 0, 0, 0, 0];
    for (let at = 0; ; at += 1) {
      const line = program.subarray(at * 8, at * 8 + 8);
      const [code, to, offset, value] = [line[0], (line[1] ?? 0) & 15, line.readInt16LE(2), line.readInt32LE(4)];
      if (code === 0x95) return registers[0] === 1;
      if (code === 0x61) registers[to] = context[offset / 4] ?? 0;
      if (code === 0x57) registers[to] = (registers[to] ?? 0) & value;
      if (code === 0xb7) registers[to] = value;
      if (code === 0x55 && registers[to] !== value) at += offset;
    }
  }
  const denied = [
    { major: 195, minor: 1 },
    { major: 195, minor: 300 },
    { major: 236, minor: 0 },
  ];

  test.each([
    [195, 1, 2, false],
    [195, 300, 2, false],
    [236, 0, 2, false],
    [195, 0, 2, true],
    [195, 255, 2, true],
    [1, 1, 2, true],
    // A disk of the same numbers is another thing.
    [195, 1, 1, true],
  ])("%i:%i of kind %i: %s", (major, minor, kind, allowed) => {
    expect(allows(denied, kind, { major, minor })).toBe(allowed);
    expect(allows([], kind, { major, minor })).toBe(true);
  });

  test("only pairs of numbers are devices", () => {
    expect(parseDevice("195:254")).toEqual({ major: 195, minor: 254 });
    for (const text of ["", "195", "195:", ":1", "195:*", "a:1", "195:1 rwm", "99999:1"])
      expect(parseDevice(text)).toBeNull();
  });
});

if (v2 === null || why !== null) {
  test("a kernel without device programs is reported with a reason", () => {
    expect(why).toMatch(/devices cannot be denied|ENOENT|EROFS|EACCES/);
  });
} else {
  describe("the kernel", () => {
    const dir = mkdtempSync(join(tmpdir(), "lattice-devices-"));
    beforeAll(() => {
      // Numbers that no driver of this machine has.
      for (const minor of [0, 1]) execFileSync("mknod", [join(dir, `gpu${minor}`), "c", "195", String(minor)]);
    });
    afterAll(() => rmSync(dir, { recursive: true, maxRetries: 9 }));

    /** The result of opening it in that group. */
    function opening(group: string, minor: number): string {
      const script = 'echo 0 >"$1/cgroup.procs"; exec 3<"$2"';
      return spawnSync("/bin/sh", ["-c", script, "sh", group, join(dir, `gpu${minor}`)], {
        encoding: "utf8",
        env: { LC_ALL: "C" },
      }).stderr;
    }

    test("named devices are denied to that group only, and the group can be removed", async () => {
      const [own, other] = [`${base}-own`, `${base}-other`];
      for (const group of [own, other]) mkdirSync(group);
      await denyDevices(own, ["195:1"]);
      expect(opening(own, 1)).toMatch(/Operation not permitted|Permission denied/);
      // No driver has it; that error shows that the open was allowed.
      expect(opening(own, 0)).toMatch(/No such device/);
      expect(opening(other, 1)).toMatch(/No such device/);
      for (const group of [own, other]) rmdirSync(group);
    });

    test("shares work on a node without a devices controller", async () => {
      const group = `${base}-share`;
      mkdirSync(group);
      const limits = limitGroups(
        { v2: null, v1: new Map(), denyDevices: (_key, devices) => denyDevices(group, devices) },
        "x",
      );
      expect(limits.controllers).toEqual(["devices"]);
      await limits.withoutDevices("1.1", []);
      expect(opening(group, 0)).toMatch(/No such device/);
      await limits.withoutDevices("1.1", ["195:0"]);
      expect(opening(group, 0)).toMatch(/Operation not permitted|Permission denied/);
      rmdirSync(group);
    });

    test("an invalid device is refused with a reason and nothing is attached", async () => {
      const group = `${base}-bad`;
      mkdirSync(group);
      await expect(denyDevices(group, ["195:*"])).rejects.toThrow('"195:*" is not a device: MAJOR:MINOR');
      await expect(denyDevices(join(group, "none"), ["195:0"])).rejects.toThrow("ENOENT");
      rmdirSync(group);
    });
  });
}
