// The behaviour of a simulated workload, written on its command line and parsed by the simulated machine: how long it runs,
// how it exits, and how it handles SIGTERM.

export interface Program {
  readonly runsMs: number;
  readonly exitCode: number;
  /** `null` when it ignores SIGTERM. */
  readonly stopsMs: number | null;
  /** It cannot be started. */
  readonly broken: boolean;
  /** Number of nodes whose prologue fails for it. Default: 0. */
  readonly unready?: number;
  /** Time after which its probe fails. Default: never. */
  readonly sickMs?: number | null;
  /** Version of an updated service; increases with each update. */
  readonly version?: number;
}

export const programLine = (program: Program): string => `simulated ${JSON.stringify(program)}`;

export function programOf(line: string): Program {
  return JSON.parse(line.slice(line.indexOf(" ") + 1)) as Program;
}
