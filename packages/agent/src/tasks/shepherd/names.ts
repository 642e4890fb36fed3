// Questions about published names, from the ranks of this node to the leading server: numbered, so that each answer finds
// its question, and an answer that comes twice changes nothing. A server that leads anew is asked again what was not
// answered, and told again what is published.

import type { ShepherdReport } from "../frames.ts";
import type { Entry, NameAct, NameAnswer, NameQuestion } from "../name-types.ts";

export interface NameDesk {
  ask(question: { act: NameAct; entries: readonly Entry[]; waitSeconds: number }, answered: Answered): void;
  answer(id: number, answer: NameAnswer): void;
}

type Answered = (answer: NameAnswer) => void;

interface Open {
  readonly question: NameQuestion;
  readonly answered: Answered;
}

/** Every rank may have a few; more is a program that asks without reading. */
const MOST_OPEN = 4_096;

/** `settled`: this question need not be said to anybody again. */
export function nameDesk(say: (report: ShepherdReport) => void, settled: (id: number) => void): NameDesk {
  const open = new Map<number, Open>();
  /** By the question that published them. */
  const published = new Map<number, Set<string>>();
  let last = 0;

  function settle({ id, act, entries }: NameQuestion, { problem }: NameAnswer): void {
    if (act === "publish" && problem === "") {
      published.set(id, new Set(entries.map(([key]) => key)));
      return;
    }
    settled(id);
    if (act === "unpublish") for (const [key] of entries) withdraw(key);
  }

  function withdraw(key: string): void {
    for (const [id, keys] of published) {
      if (!keys.delete(key) || keys.size > 0) continue;
      published.delete(id);
      settled(id);
    }
  }

  return {
    ask({ act, entries, waitSeconds }, answered) {
      if (open.size >= MOST_OPEN) return answered({ problem: "full", found: [] });
      last += 1;
      const question: NameQuestion = { id: last, act, entries, waitSeconds };
      open.set(last, { question, answered });
      say({ kind: "names", ...question });
    },
    answer(id, answer) {
      const one = open.get(id);
      if (one === undefined) return;
      open.delete(id);
      settle(one.question, answer);
      one.answered(answer);
    },
  };
}
