// Checks the data settings of a spec other than mounts: the output location, and the scratch space per node. Only the
// node knows its free space.

import { isCount, type Problems } from "../checks.ts";
import * as limit from "./limits.ts";
import type { DataSpec } from "./spec.ts";

const PATH = "allocation.data";

export function checkData(problems: Problems, { output, scratchBytes }: DataSpec): void {
  if (output !== undefined) checkOutput(problems, output);
  const good = scratchBytes === undefined || isCount(scratchBytes, 1, limit.MAX_SCRATCH_BYTES);
  problems.unless(good, `${PATH}.scratch_per_node`, "must be more than nothing and at most 1 PB");
}

function checkOutput(problems: Problems, output: string): void {
  const field = `${PATH}.output`;
  problems.text(field, output, limit.MAX_SOURCE_LENGTH);
  const path = /^(file|s3):\/\/./.test(output) ? output.slice(output.indexOf("://") + 2) : output;
  if (!path.startsWith("/")) {
    problems.add(field, "must be an absolute path, or begin with file:// or s3://");
    return;
  }
  problems.unless(!path.split("/").includes(".."), field, "must not contain ..");
  problems.unless(!/[\n,:]/.test(path), field, "must not contain commas, colons or line ends");
}
