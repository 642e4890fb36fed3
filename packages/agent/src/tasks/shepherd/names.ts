// Requests about published names, from the ranks of this node to the leader: numbered, so that each reply finds its
// request and a duplicate changes nothing. A new leader receives the open requests and the published names again.

import { entriesBytes, MAX_NAMES_BYTES } from "../base/exchange-limits.ts";
import type { NameAct, NameReply, PmiEntry, PmiNameQuestion } from "../base/name-types.ts";
import type { ShepherdReport } from "../frames.ts";

export interface NameRequests {
  ask(question: { act: NameAct; entries: readonly PmiEntry[]; waitSeconds: number }, answered: Answered): void;
  answer(id: number, answer: NameReply): void;
}

type Answered = (answer: NameReply) => void;

interface Open {
  readonly question: PmiNameQuestion;
  readonly answered: Answered;
}

/** A few per rank; more indicate a program that does not read replies. */
const MAX_OPEN = 4_096;

/** `settled`: this request need not be repeated. */
export function nameRequests(say: (report: ShepherdReport) => void, settled: (id: number) => void): NameRequests {
  const open = new Map<number, Open>();
  /** By the request that published them. */
  const published = new Map<number, Set<string>>();
  let last = 0;

  function settle({ id, act, entries }: PmiNameQuestion, { problem }: NameReply): void {
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
      if (open.size >= MAX_OPEN || entriesBytes(entries) > 2 * MAX_NAMES_BYTES)
        return answered({ problem: "full", found: [] });
      last += 1;
      const question: PmiNameQuestion = { id: last, act, entries, waitSeconds };
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
