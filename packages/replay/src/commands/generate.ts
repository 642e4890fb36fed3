// `rm-replay generate`: writes a seeded trace of the regression suite to a file or to standard output.

import { writeFileSync } from "node:fs";
import { DEFAULT_JOBS, makeTrace, type RegressionName } from "../regression/traces.ts";
import { traceText } from "../regression/workload.ts";
import type { Streams } from "../streams.ts";

export interface GenerateOptions {
  readonly seed: number;
  readonly jobs?: number;
  readonly output?: string;
}

export function generateTrace(name: RegressionName, options: GenerateOptions, { out }: Streams): void {
  const text = traceText(makeTrace(name, { seed: options.seed, jobs: options.jobs ?? DEFAULT_JOBS }));
  if (options.output === undefined) out.write(text);
  else writeFileSync(options.output, text);
}
