// How good the schedules are: mean bounded slowdown, p99 wait and Jain's index by user on full recorded
// traces, of the classic policies and of the documented Lattice profile. Where the scheduler would take
// too long on a full trace, all are compared on its beginning, and the row says so.
import { join } from "node:path";
import { root } from "../tests/harness/program.ts";
import { type Bench, type Figure, plain } from "./figure.ts";
import { type Folder, type Summary, withReplay } from "./replay-program.ts";

const TRACES = ["kth-sp2", "theta-2022", "mira-2018", "philly-2017", "unilu-gaia", "cea-curie"] as const;
export const QUALITY_PROFILE = join(root, "packages", "replay", "profiles", "proportional.yaml");

const POLICIES = {
  easy: ["--policy", "easy"],
  "easy-sjbf": ["--policy", "easy-sjbf"],
  lattice: ["--policy", "lattice", "--weights", QUALITY_PROFILE],
} as const;
type PolicyName = keyof typeof POLICIES;

/** Seconds for the scheduler on one trace; and which traces, by name with commas between. */
const PATIENCE_S = Number(process.env.REPLAY_PATIENCE_S ?? 900);
const ASKED = process.env.REPLAY_TRACES?.split(",") ?? TRACES;
const PROBE_JOBS = 1000;

export const replayQuality: Bench = async (say) =>
  withReplay((folder) => {
    say(row(["trace", "jobs", "policy", "mean slowdown", "p99 wait s", "Jain", "utilisation"]));
    return TRACES.filter((trace) => ASKED.includes(trace)).flatMap((trace) =>
      folder.trace(trace).isReal ? compare(folder, trace, say) : [],
    );
  });

function compare(folder: Folder, trace: string, say: (text: string) => void): readonly Figure[] {
  const { file } = folder.trace(trace);
  const jobs = jobsWithinPatience(folder, file);
  const limit = jobs === null ? [] : ["--jobs", String(jobs)];
  const figures: Figure[] = [];
  for (const [policy, words] of Object.entries(POLICIES) as [PolicyName, readonly string[]][]) {
    const replayed = folder.judge(file, [...words, ...limit], PATIENCE_S * 2);
    if (replayed === null) {
      say(row([trace, "", policy, `took longer than ${PATIENCE_S * 2} s`]));
      continue;
    }
    const { summary } = replayed;
    say(row([trace, jobs === null ? "all" : `first ${jobs}`, policy, ...told(summary)]));
    const name = (figure: string): string => `${trace}${jobs === null ? "" : `-first-${jobs}`}/${policy}/${figure}`;
    figures.push(
      plain(name("mean_bounded_slowdown"), summary.mean_bounded_slowdown, ""),
      plain(name("p99_wait"), summary.wait_seconds.p99, "s"),
      plain(name("jain_slowdown"), summary.jain_slowdown, ""),
    );
  }
  return figures;
}

/** Null: all of them. Judged by the rate of the scheduler on the trace's first jobs. */
function jobsWithinPatience(folder: Folder, file: string): number | null {
  const all = folder.time(file, POLICIES.easy, PATIENCE_S);
  const probe = folder.time(file, [...POLICIES.lattice, "--jobs", String(PROBE_JOBS)], PATIENCE_S);
  if (all === null || probe === null) return PROBE_JOBS;
  const within = Math.floor((probe.jobs / probe.replaySeconds) * PATIENCE_S);
  return within >= all.jobs ? null : Math.max(PROBE_JOBS, within);
}

const told = (summary: Summary): readonly string[] => [
  summary.mean_bounded_slowdown.toFixed(3),
  summary.wait_seconds.p99.toFixed(0),
  summary.jain_slowdown.toFixed(3),
  summary.utilisation.toFixed(3),
];

const row = (cells: readonly string[]): string =>
  cells
    .map((cell) => cell.padEnd(14))
    .join(" ")
    .trimEnd();
