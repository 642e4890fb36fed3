// Where the output of a step goes: to the caller, or into the files that -o and -e name. A name with %t
// is one file for each task.

import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import type { Outlet } from "../commands/launch/label.ts";
import { outputPath } from "./output-file.ts";

export interface StepFiles {
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly id: string;
  readonly name: string;
  readonly cwd: string;
}

export interface StepOutput {
  readonly write: Outlet["write"];
  /** Resolves when all of it is on disk. */
  readonly close: () => Promise<void>;
}

export function stepOutput({ output, error, id, name, cwd }: StepFiles): StepOutput {
  const open = new Map<string, WriteStream>();
  const fileFor = (pattern: string, rank: number): WriteStream => {
    const path = outputPath(pattern.replaceAll(/%\d*t/g, `${rank}`), { id, state: "running", spec: { name } }, cwd);
    const stream = open.get(path) ?? createWriteStream(path);
    open.set(path, stream);
    return stream;
  };
  return {
    write: async ({ rank, stream, data }) => {
      const pattern = stream === "stderr" ? (error ?? output) : output;
      const usual = stream === "stderr" ? process.stderr : process.stdout;
      const to = pattern === undefined || pattern === "none" ? usual : fileFor(pattern, rank);
      if (pattern === "none") return;
      if (!to.write(data)) await once(to, "drain");
    },
    close: async () => {
      await Promise.all([...open.values()].map((stream) => new Promise<void>((done) => stream.end(() => done()))));
    },
  };
}
