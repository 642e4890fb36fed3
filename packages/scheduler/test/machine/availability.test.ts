// When nodes are available: free, busy, overdue, and never.

import { describe, expect, it } from "vitest";
import { OVERDUE_RELEASE } from "../../src/base/bounds.ts";
import type { CycleInput } from "../../src/index.ts";
import { expectedRelease, FREE } from "../../src/machine/availability.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { busy, input, MINUTE, NOW, node, release } from "../make.ts";

const never = Number.POSITIVE_INFINITY;
const soon = NOW + OVERDUE_RELEASE;
const at = (minutes: number): number => NOW + minutes * MINUTE;

describe("an expected release", () => {
  it.each([
    { name: "in the future stays", endsAt: NOW + 1, expected: NOW + 1 },
    { name: "due now is expected soon", endsAt: NOW, expected: soon },
    { name: "overdue is expected soon", endsAt: NOW - 1e6, expected: soon },
    { name: "of unbounded work never comes", endsAt: null, expected: never },
  ])("$name", ({ endsAt, expected }) => {
    expect(expectedRelease(endsAt, NOW)).toBe(expected);
  });
});

describe("a node is available", () => {
  const cases: { name: string; given: Partial<CycleInput>; expected: number }[] = [
    { name: "at any time when free", given: { nodes: [node("a")] }, expected: FREE },
    {
      name: "at any time when free, whatever a stale release says",
      given: { nodes: [node("a")], releases: [release(60, "a")] },
      expected: FREE,
    },
    { name: "after its release", given: { nodes: [busy("a")], releases: [release(60, "a")] }, expected: at(60) },
    {
      name: "after the last of its releases",
      given: { nodes: [busy("a")], releases: [release(30, "a"), release(90, "a"), release(60, "a")] },
      expected: at(90),
    },
    {
      name: "never, when one of its releases is unbounded",
      given: { nodes: [busy("a")], releases: [release(30, "a"), release(null, "a")] },
      expected: never,
    },
    { name: "never, without a known release", given: { nodes: [busy("a")] }, expected: never },
    {
      name: "never, when it is drained, even with a release",
      given: { nodes: [busy("a", { usable: false })], releases: [release(60, "a")] },
      expected: never,
    },
    {
      name: "soon, when its release is overdue",
      given: { nodes: [busy("a")], releases: [release(-60, "a")] },
      expected: soon,
    },
    {
      name: "by its own releases, not by unknown nodes'",
      given: { nodes: [busy("a")], releases: [release(60, "elsewhere", "a"), release(90, "elsewhere")] },
      expected: at(60),
    },
  ];
  it.each(cases)("$name", ({ given, expected }) => {
    expect([...machineOf(input(given)).availableFrom]).toEqual([expected]);
  });
});
