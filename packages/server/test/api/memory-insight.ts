// The scheduler behind a plane in memory: a planner over the state of the plane, in the same thread.

import type { State } from "@lattice/core";
import { ProblemError, problemFromRefusal } from "@lattice/wire";
import { systemClock } from "../../src/base/clock.ts";
import type { Recorded } from "../../src/base/observe/recorder.ts";
import { createInsight, createMeasuredInputs, type Insight } from "../../src/lead/insight/index.ts";
import { createPlanner } from "../../src/lead/planner/planner.ts";
import { RefusedError } from "../../src/lead/planner/refused.ts";

const NO_CHECKPOINTS = { answer: () => ({ judgement: null, progress: null, storageError: "" }), signals: () => ({}) };

export function memoryInsight(state: () => State, recorded: () => Recorded): Insight {
  const clock = { ...systemClock, now: () => state().at };
  const measured = createMeasuredInputs({
    view: state,
    checkpoints: NO_CHECKPOINTS,
    fingerprintAt: () => null,
    fingerprintWindow: null,
    storageMBps: null,
  });
  const planner = createPlanner({
    view: state,
    clock,
    isReachable: () => true,
    measured: () => measured.facts(state().at),
    observeError: () => undefined,
  });
  const facts = () => ({ now: state().at, budgetDays: 90, createTenants: true });
  return createInsight({
    view: state,
    clock,
    planner: {
      cycles: new Map(),
      async ask(question) {
        try {
          return planner.answer(question, facts());
        } catch (error) {
          throw error instanceof RefusedError ? ProblemError.of(problemFromRefusal(error.refusal)) : error;
        }
      },
    },
    measured,
    checkpoints: NO_CHECKPOINTS,
    recorded,
  });
}
