// Checks the paths of output files. Only the node can find out whether they are writable.

import { isText, type Problems } from "../checks.ts";
import { MAX_OUTPUT_PATH_LENGTH } from "./limits.ts";
import type { AllocationSpec } from "./spec.ts";

export function checkOutput(problems: Problems, { output, environment }: AllocationSpec): void {
  if (output === undefined) return;
  const field = "allocation.output";
  problems.unless(output.file !== "", `${field}.file`, "must be given");
  for (const [name, path] of [["file", output.file] as const, ["error_file", output.errorFile ?? ""] as const]) {
    const good = isText(path, MAX_OUTPUT_PATH_LENGTH) && !/[\r\n]/.test(path);
    problems.unless(good, `${field}.${name}`, `must be one line of at most ${MAX_OUTPUT_PATH_LENGTH} characters`);
    const placed = path === "" || path.startsWith("/") || environment.workdir !== "";
    problems.unless(placed, `${field}.${name}`, "must be an absolute path where no working directory is given");
  }
}
