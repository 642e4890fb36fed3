// The levels of a disk: bounded shares of its size, so that a large disk is not full at a tenth.

import { describe, expect, test } from "vitest";
import { levelOf, spaceText } from "../../../src/state/disks/space.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe("the free space of a disk", () => {
  test.each([
    [100 * MIB, 11 * MIB, "enough"],
    [100 * MIB, 9 * MIB, "low"],
    [100 * MIB, 4 * MIB, "reserved"],
    [100 * MIB, 0, "reserved"],
    [10_000 * GIB, 3 * GIB, "enough"],
    [10_000 * GIB, 1 * GIB, "low"],
    [10_000 * GIB, 200 * MIB, "reserved"],
  ] as const)("of %d bytes with %d free is %s", (sizeBytes, freeBytes, level) => {
    expect(levelOf({ sizeBytes, freeBytes })).toBe(level);
  });

  test("is shown with its size", () => {
    expect(spaceText({ freeBytes: 1.25e6, sizeBytes: 40e9 })).toBe("1.3 MB of 40.0 GB");
  });
});
