// Replaces `${INDEX}` in the program of an element: entrypoint, command words, values of variables. Scripts are
// unchanged: they read LATTICE_TASK_INDEX.

import type { AllocationSpec, Task } from "../spec/spec.ts";
import type { Allocation } from "./allocation.ts";

const PLACE = /\$\{INDEX\}/g;

/** Returns the program as it runs. */
export function specToRun({ spec, element }: Allocation): AllocationSpec {
  if (element === undefined) return spec;
  const put = (text: string): string => text.replace(PLACE, String(element.index));
  const variables = Object.entries(spec.environment.variables).map(([name, value]) => [name, put(value)] as const);
  return {
    ...spec,
    task: inTask(spec.task, put),
    environment: { ...spec.environment, variables: Object.fromEntries(variables) },
  };
}

function inTask(task: Task, put: (text: string) => string): Task {
  switch (task.kind) {
    case "entrypoint":
      return { kind: "entrypoint", line: put(task.line) };
    case "command":
      return { kind: "command", words: task.words.map(put) };
    case "script":
      return task;
  }
}
