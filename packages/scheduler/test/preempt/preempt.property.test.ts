// The rules of every preemption, over random machines full of random work.

import { DEFAULT_MAX_VICTIMS, NEAR_COMPLETION, NEVER_STOPPED_CLASS } from "@lattice/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type CycleInput, cycle, type VictimInput } from "../../src/index.ts";
import { someJobs, someNodes } from "../arbitrary.ts";
import { tenant } from "../make.ts";
import { full, running } from "./make.ts";

const whole = (min: number, max: number) => fc.integer({ min, max });

/** The nodes dealt out to allocations of one to four nodes; some stay free. */
const scene: fc.Arbitrary<CycleInput> = fc
  .record({
    nodes: someNodes,
    jobs: someJobs(6),
    sizes: fc.array(whole(1, 4), { minLength: 9, maxLength: 9 }),
    classes: fc.array(whole(0, 10), { minLength: 9, maxLength: 9 }),
    began: fc.array(whole(0, 700), { minLength: 9, maxLength: 9 }),
    stays: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
    free: whole(0, 2),
    backfillDepth: whole(0, 3),
    isSensitive: fc.constantFrom(false, false, false, true),
  })
  .map(({ nodes, jobs, sizes, classes, began, stays, free, backfillDepth, isSensitive }) => {
    const usable = nodes.filter((node) => node.usable).map((node) => node.id);
    const victims: VictimInput[] = [];
    for (let at = free, n = 0; at < usable.length; n += 1) {
      const held = usable.slice(at, at + (sizes[n] ?? 1));
      const fields = { class: classes[n] ?? 0, began: began[n] ?? 0, minutes: 705, requeues: stays[n] !== true };
      victims.push(running(900 + n, held, { ...fields, borrows: n === 1 }));
      at += held.length;
    }
    const idle = nodes.map((node) => ({ ...node, free: node.usable, notFreeBecause: node.usable ? "" : "drained" }));
    const tenants = [tenant("physics"), tenant("biology")];
    return {
      ...full(idle, victims, { pending: jobs, backfillDepth, tenants }),
      ...(isSensitive ? { isSensitive } : {}),
    };
  });

const without = (input: CycleInput, gone: ReadonlySet<string>): CycleInput => ({
  ...input,
  victims: [],
  releases: input.releases.filter(({ allocation }) => !gone.has(allocation)),
  nodes: input.nodes.map((node) => {
    const freed = input.releases.some(({ allocation, nodes }) => gone.has(allocation) && nodes.includes(node.id));
    return freed ? { ...node, free: true, notFreeBecause: "" } : node;
  }),
});

it("a preemption stops only lower classes, few victims, none without need, and no protected one", () => {
  let decisions = 0;
  let several = 0;
  fc.assert(
    fc.property(scene, (input) => {
      const { preemptions, placements } = cycle(input);
      const victims = new Map((input.victims ?? []).map((victim) => [victim.allocation, victim]));
      const taken = new Set<string>();
      const nodes = new Set<string>(placements.flatMap((placement) => placement.nodes));
      for (const preemption of preemptions) {
        decisions += 1;
        if (preemption.victims.length > 1) several += 1;
        const winner = input.pending.find((job) => job.id === preemption.allocation);
        const own = input.isSensitive === true ? 10 : (winner?.preemptionClass ?? -1);
        expect(preemption.victims.length).toBeGreaterThanOrEqual(1);
        expect(preemption.victims.length).toBeLessThanOrEqual(DEFAULT_MAX_VICTIMS);
        expect(preemption.nodes.length).toBeGreaterThanOrEqual(winner?.minNodes ?? 0);
        for (const { allocation } of preemption.victims) {
          const victim = victims.get(allocation);
          expect(victim?.preemptionClass).toBeLessThan(Math.min(own, NEVER_STOPPED_CLASS));
          expect((victim?.startedAt ?? 0) + (victim?.walltime ?? 0)).toBeGreaterThan(input.now + NEAR_COMPLETION);
          expect(taken.has(allocation)).toBe(false);
          expect(victim?.nodes.some((node) => preemption.nodes.includes(node))).toBe(true);
          taken.add(allocation);
        }
        for (const node of preemption.nodes) {
          expect(nodes.has(node)).toBe(false);
          nodes.add(node);
        }
      }
    }),
    { numRuns: 1500 },
  );
  expect(decisions).toBeGreaterThan(100);
  expect(several).toBeGreaterThan(10);
});

it("the preemptor starts with all victims stopped, and not with one of them left", () => {
  let checked = 0;
  fc.assert(
    fc.property(scene, (input) => {
      for (const job of input.pending) {
        // By itself: what others have reserved may well make it need more.
        const alone = { ...input, pending: [job] };
        const first = cycle(alone).preemptions[0];
        if (first === undefined) continue;
        const all = new Set<string>(first.victims.map(({ allocation }) => allocation));
        expect(cycle(without(alone, all)).placements).toHaveLength(1);
        for (const kept of first.victims) {
          const fewer = new Set([...all].filter((allocation) => allocation !== kept.allocation));
          expect(cycle(without(alone, fewer)).placements).toEqual([]);
        }
        checked += 1;
      }
    }),
    { numRuns: 600 },
  );
  expect(checked).toBeGreaterThan(200);
});

it("a preemption is the same whatever the order of the input", () => {
  fc.assert(
    fc.property(scene, whole(1, 8), (input, turn) => {
      const rotated = <T>(list: readonly T[]): T[] => [...list.slice(turn), ...list.slice(0, turn)];
      const other = {
        ...input,
        nodes: rotated(input.nodes),
        pending: rotated(input.pending),
        victims: rotated(input.victims ?? []),
        releases: rotated(input.releases),
      };
      expect(cycle(other).preemptions).toEqual(cycle(input).preemptions);
    }),
    { numRuns: 500 },
  );
});
