// The outcome of a launch from the ends of its tasks: the first failure decides, because later ones are its
// consequence. Pure.

export interface LaunchFailure {
  readonly exitCode: number;
  readonly reason: string;
}

interface TaskEnding {
  readonly rank: number;
  readonly node: string;
  readonly exitCode: number;
  readonly signal: number;
  readonly message: string;
}

/** Returns `null` for a successful end. */
export function failureOf({ rank, node, exitCode, signal, message }: TaskEnding): LaunchFailure | null {
  if (exitCode === 0) return null;
  if (message !== "") return { exitCode, reason: `task ${rank} on ${node}: ${message}` };
  const how = signal > 0 ? `was killed by signal ${signal}` : `ended with exit code ${exitCode}`;
  return { exitCode, reason: `task ${rank} on ${node} ${how}` };
}

export function abortOf(ending: {
  readonly rank: number;
  readonly exitCode: number;
  readonly message: string;
}): LaunchFailure {
  const suffix = ending.message === "" ? "" : `: ${ending.message}`;
  return { exitCode: exitStatus(ending.exitCode), reason: `task ${ending.rank} aborted the launch${suffix}` };
}

/** Converts to an exit status; an abort with 0 is still a failure. */
const exitStatus = (code: number): number => {
  const status = code & 0xff;
  return status === 0 ? 1 : status;
};
