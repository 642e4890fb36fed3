// Names that programs of one attempt publish for each other (MPI_Publish_name): visible to all launches of the
// attempt, and removed with the launch that published them. Kept in the leader's memory, like the launches.

import { type Duration, duration } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import type { KeyValue } from "./fence.ts";

type NameProblem = "" | "taken" | "unknown" | "full";

export interface NameAnswer {
  readonly problem: NameProblem;
  readonly found: readonly KeyValue[];
}

/** The launch that sends the question. */
interface Asker {
  readonly attempt: string;
  readonly launch: string;
}

interface NameDirectory {
  /** Answers at once; a lookup with a wait when all names are published or its time is over. */
  ask(asker: Asker, question: pb.TasksNames, answered: (answer: NameAnswer) => void): void;
  /** The launch is over. */
  forget(launch: string): void;
}

/** Names per attempt; a port is a few hundred bytes. */
const MAX_NAMES = 1_024;
const MAX_VALUE_LENGTH = 64 * 1024;
const MAX_WAITING = 4_096;

interface Published {
  readonly value: string;
  readonly launch: string;
}

interface Waiting {
  readonly asker: Asker;
  readonly names: readonly string[];
  readonly answered: (answer: NameAnswer) => void;
  readonly cancel: () => void;
}

export function createNameDirectory(clock: Clock): NameDirectory {
  const books = new Map<string, Map<string, Published>>();
  const waiting = new Set<Waiting>();

  function findAll({ attempt }: Asker, names: readonly string[]): readonly KeyValue[] {
    const book = books.get(attempt);
    return names.flatMap((key) => {
      const known = book?.get(key);
      return known === undefined ? [] : [{ key, value: known.value }];
    });
  }

  const answerOf = (found: readonly KeyValue[]): NameAnswer => ({ problem: found.length > 0 ? "" : "unknown", found });

  function finish(one: Waiting, found: readonly KeyValue[]): void {
    one.cancel();
    waiting.delete(one);
    one.answered(answerOf(found));
  }

  function wake(attempt: string): void {
    for (const one of [...waiting]) {
      if (one.asker.attempt !== attempt) continue;
      const found = findAll(one.asker, one.names);
      if (found.length === one.names.length) finish(one, found);
    }
  }

  function publish(asker: Asker, entries: readonly KeyValue[]): NameAnswer {
    const book = books.get(asker.attempt) ?? new Map<string, Published>();
    if (entries.some(({ key }) => book.has(key))) return { problem: "taken", found: [] };
    const tooLong = entries.some(({ key, value }) => key.length + value.length > MAX_VALUE_LENGTH);
    if (tooLong || book.size + entries.length > MAX_NAMES) return { problem: "full", found: [] };
    for (const { key, value } of entries) book.set(key, { value, launch: asker.launch });
    books.set(asker.attempt, book);
    wake(asker.attempt);
    return { problem: "", found: [] };
  }

  function unpublish({ attempt }: Asker, names: readonly string[]): NameAnswer {
    const known = names.filter((name) => books.get(attempt)?.delete(name) === true);
    return { problem: known.length === names.length ? "" : "unknown", found: [] };
  }

  function lookup(asker: Asker, names: readonly string[], wait: Duration, answered: Waiting["answered"]): void {
    const found = findAll(asker, names);
    if (found.length === names.length || wait === 0 || waiting.size >= MAX_WAITING) {
      answered(answerOf(found));
      return;
    }
    const one: Waiting = {
      asker,
      names,
      answered,
      cancel: clock.after(wait, () => finish(one, findAll(asker, names))),
    };
    waiting.add(one);
  }

  return {
    ask(asker, { act, entries, waitSeconds }, answered) {
      const names = entries.map(({ key }) => key);
      if (act === pb.NameAct.PUBLISH) answered(publish(asker, entries));
      else if (act === pb.NameAct.UNPUBLISH) answered(unpublish(asker, names));
      else lookup(asker, names, duration(waitSeconds * 1_000), answered);
    },
    forget(launch) {
      for (const one of [...waiting]) if (one.asker.launch === launch) finish(one, []);
      for (const [attempt, book] of books) {
        for (const [name, published] of book) if (published.launch === launch) book.delete(name);
        if (book.size === 0) books.delete(attempt);
      }
    },
  };
}
