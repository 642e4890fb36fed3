// Drafts for the tests of single steps: the plan of an input before any step, jobs on its machine, and nodes by name.

import { type Job, toJob } from "../src/fit/job.ts";
import type { CycleInput, PendingInput } from "../src/index.ts";
import { machineOf } from "../src/machine/machine.ts";
import { createPlanBuffers } from "../src/machine/plan-buffers.ts";
import { createDraft, type Draft } from "../src/plan/draft.ts";
import { input, type JobFields, job } from "./make.ts";

/** Returns the empty plan of an input. */
export function draftOf(given: Partial<CycleInput>, movesLeft = 0): Draft {
  const full = input(given);
  const buffers = createPlanBuffers(full.nodes.length);
  return createDraft(machineOf(full, buffers), full, { buffers, movesLeft });
}

/** Returns a request as a job on the machine of the draft. */
export const jobOn = ({ machine }: Draft, pending: PendingInput): Job => toJob(machine, pending);

export const jobFrom = (draft: Draft, id: number, fields: JobFields = {}): Job => jobOn(draft, job(id, fields));

/** Returns the ids of these nodes, joined by spaces; `null` stays `null`. */
export const namesOf = ({ machine }: Draft, nodes: readonly number[] | null): string | null =>
  nodes === null ? null : nodes.map((node) => machine.nodes[node]?.id).join(" ");

/** Returns the numbers of these nodes. */
export const numbersOf = ({ machine }: Draft, ...ids: string[]): number[] =>
  ids.map((id) => machine.nodes.findIndex((node) => node.id === id));
