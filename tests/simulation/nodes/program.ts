// What a simulated workload does, written on its command line and read back by the simulated
// machine: how long it runs, how it exits, and how it takes SIGTERM.

export interface Program {
  readonly runsMs: number;
  readonly exitCode: number;
  /** Null: it does not listen to SIGTERM. */
  readonly stopsMs: number | null;
  /** Cannot even be started. */
  readonly broken: boolean;
  /** How often a node cannot be made ready for it; absent: never. */
  readonly unready?: number;
  /** It answers no probe after so long; null, or absent: it always does. */
  readonly sickMs?: number | null;
  /** Of a service that is updated: grows from update to update. */
  readonly version?: number;
}

export const programLine = (program: Program): string => `simulated ${JSON.stringify(program)}`;

export function programOf(line: string): Program {
  return JSON.parse(line.slice(line.indexOf(" ") + 1)) as Program;
}
