// The speed of the simulation of 32 nodes on one core, with faults and checks. One process simulates one seed after the
// other; the first ones are not counted, because the code is not compiled yet.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { root } from "../tests/harness/program.ts";
import { atLeast, type Bench, withoutTarget } from "./figure.ts";

const COLD = 3;
const SEEDS = 12;
/** Factor on the pause between requests; there is still more than one command per simulated second. */
const PACE = 10;
const MIN_TIMES = 500;
const MIN_COMMANDS = 1;

const LINE = /^seed \d+: ([\d.]+) simulated minutes in ([\d.]+) s of one core \(.*, ([\d.]+) commands/gm;

export const simulation: Bench = async (log) => {
  const words = ["tools/simulate.mjs", "--seeds", `1-${SEEDS}`, "--pace", String(PACE)];
  log(`${SEEDS} seeds of 30 minutes`);
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root, maxBuffer: 1e8 });
  const runs = [...stdout.matchAll(LINE)].map(([, ...numbers]) => numbers.map(Number) as [number, number, number]);
  if (runs.length !== SEEDS) throw new Error(`the simulation reported ${runs.length} of ${SEEDS} seeds`);
  const times = (some: readonly (readonly [number, number, number])[]): number =>
    (some.reduce((sum, [minutes]) => sum + minutes, 0) * 60) / some.reduce((sum, [, seconds]) => sum + seconds, 0);
  return [
    atLeast("times_real_time", times(runs.slice(COLD)), "x", MIN_TIMES),
    withoutTarget("times_real_time_first_seed", times(runs.slice(0, 1)), "x"),
    atLeast("commands_per_simulated_second", Math.min(...runs.map(([, , rate]) => rate)), "1/s", MIN_COMMANDS),
  ];
};
