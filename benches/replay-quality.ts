// Schedule quality on recorded traces: mean bounded slowdown, p99 wait and Jain's index by user, for the classic policies
// and the default Lattice profile. When the scheduler would take too long on a full trace, all policies are compared
// on its beginning, and the row is marked.
import { type Bench, type Figure, type Progress, withoutTarget } from "./figure.ts";
import { type Folder, type Summary, withReplay } from "./replay-program.ts";

const TRACES = ["kth-sp2", "theta-2022", "mira-2018", "philly-2017", "unilu-gaia", "cea-curie"] as const;

const POLICIES = {
  easy: ["--policy", "easy"],
  "easy-sjbf": ["--policy", "easy-sjbf"],
  lattice: ["--policy", "lattice"],
} as const;
type PolicyName = keyof typeof POLICIES;

/** Time limit of the scheduler per trace, and the traces to use, separated by commas. */
const TIME_LIMIT_S = Number(process.env.REPLAY_PATIENCE_S ?? 900);
const SELECTED = process.env.REPLAY_TRACES?.split(",") ?? TRACES;
const PROBE_JOBS = 1000;

export const replayQuality: Bench = async (log) =>
  withReplay((folder) => {
    log(row(["trace", "jobs", "policy", "mean slowdown", "p99 wait s", "Jain", "Jain shares", "utilisation"]));
    return TRACES.filter((trace) => SELECTED.includes(trace)).flatMap((trace) =>
      folder.trace(trace).isReal ? compare(folder, trace, log) : [],
    );
  });

function compare(folder: Folder, trace: string, log: Progress): readonly Figure[] {
  const { file } = folder.trace(trace);
  const jobs = jobsWithinLimit(folder, file);
  const limit = jobs === null ? [] : ["--jobs", String(jobs)];
  const figures: Figure[] = [];
  for (const [policy, words] of Object.entries(POLICIES) as [PolicyName, readonly string[]][]) {
    const replayed = folder.judge(file, [...words, ...limit], TIME_LIMIT_S * 2);
    if (replayed === null) {
      log(row([trace, "", policy, `took longer than ${TIME_LIMIT_S * 2} s`]));
      continue;
    }
    const { summary } = replayed;
    log(row([trace, jobs === null ? "all" : `first ${jobs}`, policy, ...cellsOf(summary)]));
    const name = (figure: string): string => `${trace}${jobs === null ? "" : `-first-${jobs}`}/${policy}/${figure}`;
    figures.push(
      withoutTarget(name("mean_bounded_slowdown"), summary.mean_bounded_slowdown, ""),
      withoutTarget(name("p99_wait"), summary.wait_seconds.p99, "s"),
      withoutTarget(name("jain_slowdown"), summary.jain_slowdown, ""),
      withoutTarget(name("jain_share"), summary.jain_share, ""),
    );
  }
  return figures;
}

/** Estimates how many jobs fit into the time limit from the rate of the first jobs. Returns null for all. */
function jobsWithinLimit(folder: Folder, file: string): number | null {
  const all = folder.time(file, POLICIES.easy, TIME_LIMIT_S);
  const probe = folder.time(file, [...POLICIES.lattice, "--jobs", String(PROBE_JOBS)], TIME_LIMIT_S);
  if (all === null || probe === null) return PROBE_JOBS;
  const within = Math.floor((probe.jobs / probe.replaySeconds) * TIME_LIMIT_S);
  return within >= all.jobs ? null : Math.max(PROBE_JOBS, within);
}

const cellsOf = (summary: Summary): readonly string[] => [
  summary.mean_bounded_slowdown.toFixed(3),
  summary.wait_seconds.p99.toFixed(0),
  summary.jain_slowdown.toFixed(3),
  summary.jain_share.toFixed(3),
  summary.utilisation.toFixed(3),
];

const row = (cells: readonly string[]): string =>
  cells
    .map((cell) => cell.padEnd(14))
    .join(" ")
    .trimEnd();
