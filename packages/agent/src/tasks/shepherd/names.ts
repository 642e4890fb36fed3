// Questions about published names, from the ranks of this node to the leading server: numbered, so that each answer finds
// its question, and an answer that comes twice changes nothing.

import type { ShepherdReport } from "../frames.ts";
import type { Entry, NameAct, NameAnswer, NameQuestion } from "../name-types.ts";

export interface NameDesk {
  ask(question: { act: NameAct; entries: readonly Entry[]; waitSeconds: number }, answered: Answered): void;
  answer(id: number, answer: NameAnswer): void;
}

type Answered = (answer: NameAnswer) => void;

/** Every rank may have a few; more is a program that asks without reading. */
const MOST_OPEN = 4_096;

export function nameDesk(say: (report: ShepherdReport) => void): NameDesk {
  const open = new Map<number, Answered>();
  let last = 0;
  return {
    ask({ act, entries, waitSeconds }, answered) {
      if (open.size >= MOST_OPEN) return answered({ problem: "full", found: [] });
      last += 1;
      open.set(last, answered);
      const question: NameQuestion = { id: last, act, entries, waitSeconds };
      say({ kind: "names", ...question });
    },
    answer(id, answer) {
      const answered = open.get(id);
      open.delete(id);
      answered?.(answer);
    },
  };
}
