// Reports failed tasks as srun does: one line for all tasks that ended alike on one node.

import { indexText } from "../output/index-ranges.ts";

interface TaskEnd {
  readonly rank: number;
  readonly node: string;
  readonly exitCode: number;
  readonly signal: number;
  readonly message: string;
}

/** Collects failures and formats them as `n1: tasks 0-1: Exited with exit code 1`. */
export class TaskFailures {
  readonly #ranks = new Map<string, number[]>();

  add({ rank, node, exitCode, signal, message }: TaskEnd): void {
    if (exitCode === 0 && signal === 0) return;
    const how = signal > 0 ? (SIGNALS[signal] ?? `Signal ${signal}`) : `Exited with exit code ${exitCode}`;
    const key = `${node}\0${message === "" ? how : `${how}: ${message}`}`;
    this.#ranks.set(key, [...(this.#ranks.get(key) ?? []), rank]);
  }

  isEmpty(): boolean {
    return this.#ranks.size === 0;
  }

  lines(): readonly string[] {
    return [...this.#ranks].map(([key, ranks]) => {
      const [node = "", how = ""] = key.split("\0");
      return `${node}: ${ranks.length === 1 ? "task" : "tasks"} ${indexText(ranks)}: ${how}`;
    });
  }
}

const SIGNALS: Readonly<Record<number, string>> = {
  6: "Aborted",
  9: "Killed",
  11: "Segmentation fault",
  15: "Terminated",
};
