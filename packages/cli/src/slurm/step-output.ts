// The output of a step: to the caller, or to the files of -o and -e. A name with %t is one file per task.

import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import type { TaskOutput } from "../launch/task-output.ts";
import { outputPath } from "./output-file.ts";

interface StepFiles {
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly id: string;
  readonly name: string;
  readonly cwd: string;
}

export interface StepOutput {
  readonly write: TaskOutput["write"];
  /** Resolves when all output is written. */
  readonly close: () => Promise<void>;
}

export function stepOutput({ output, error, id, name, cwd }: StepFiles): StepOutput {
  const open = new Map<string, WriteStream>();
  const fileFor = (pattern: string, rank: number): WriteStream => {
    const path = outputPath(pattern.replaceAll(/%\d*t/g, `${rank}`), { id, spec: { name } }, cwd);
    const stream = open.get(path) ?? createWriteStream(path);
    open.set(path, stream);
    return stream;
  };
  return {
    write: async ({ rank, stream, data }) => {
      const pattern = stream === "stderr" ? (error ?? output) : output;
      const inherited = stream === "stderr" ? process.stderr : process.stdout;
      const to = pattern === undefined || pattern === "none" ? inherited : fileFor(pattern, rank);
      if (pattern === "none") return;
      if (!to.write(data)) await once(to, "drain");
    },
    close: async () => {
      await Promise.all([...open.values()].map((stream) => new Promise<void>((done) => stream.end(() => done()))));
    },
  };
}
