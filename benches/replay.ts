// The speed of rm-replay: the classic policies on their own engine, and the real scheduler with `apply`. The main rate
// covers the simulation only; rates with reading, and from spawn to exit, are reported as well.
import { atLeast, type Bench, below, type Figure, type Progress, withoutTarget } from "./figure.ts";
import { type Folder, type Replayed, withReplay } from "./replay-program.ts";

const ROUNDS = 3;
const EASY_JOBS_PER_S = 300_000;
const EASY_CURIE_S = 20;
const LATTICE_JOBS_PER_S = 3000;
const LATTICE_CURIE_S = 180;
/** A run that would take longer is measured on the beginning of the trace only. */
const TIME_LIMIT_S = 600;
const PROBE_JOBS = 1000;

export const replay: Bench = async (log) =>
  withReplay((folder) => [...easyFigures(folder, log), ...latticeFigures(folder, log)]);

function easyFigures(folder: Folder, log: Progress): readonly Figure[] {
  const kth = folder.trace("kth-sp2");
  if (!kth.isReal) log("no recorded traces found; using a generated one");
  const rounds = Array.from({ length: ROUNDS }, () =>
    finished(folder.time(kth.file, ["--policy", "easy"], TIME_LIMIT_S)),
  );
  for (const round of rounds) log(`easy on KTH SP2: ${describe(round)}`);
  const best = (seconds: (round: Replayed) => number): number =>
    Math.max(...rounds.map((round) => round.jobs / seconds(round)));
  const curie = finished(folder.time(folder.trace("cea-curie").file, ["--policy", "easy"], TIME_LIMIT_S));
  log(`easy on CEA Curie: ${describe(curie)}`);
  return [
    atLeast(
      "easy_kth",
      best((round) => round.replaySeconds),
      "jobs/s",
      EASY_JOBS_PER_S,
    ),
    withoutTarget(
      "easy_kth_with_reading",
      best((round) => round.replaySeconds + round.readSeconds),
      "jobs/s",
    ),
    withoutTarget(
      "easy_kth_from_spawn_to_exit",
      best((round) => round.wallSeconds),
      "jobs/s",
    ),
    below("easy_curie_from_spawn_to_exit", curie.wallSeconds, "s", EASY_CURIE_S),
  ];
}

function latticeFigures(folder: Folder, log: Progress): readonly Figure[] {
  const figures: Figure[] = [];
  for (const [name, jobs] of [
    ["kth-sp2", 28_481],
    ["cea-curie", 295_540],
  ] as const) {
    const { file } = folder.trace(name);
    const words = ["--policy", "lattice"];
    const probe = finished(folder.time(file, [...words, "--jobs", String(PROBE_JOBS)], TIME_LIMIT_S));
    const expected = (jobs / probe.jobs) * probe.replaySeconds;
    const whole = expected > TIME_LIMIT_S ? null : folder.time(file, words, TIME_LIMIT_S);
    const shown = whole ?? probe;
    log(`lattice on ${name}${whole === null ? `, the first ${PROBE_JOBS} jobs only` : ""}: ${describe(shown)}`);
    const rate = shown.jobs / shown.replaySeconds;
    figures.push(
      name === "kth-sp2"
        ? atLeast("lattice_kth", rate, "jobs/s", LATTICE_JOBS_PER_S)
        : withoutTarget("lattice_curie_rate", rate, "jobs/s"),
    );
    if (name === "cea-curie") {
      figures.push(below("lattice_curie", whole?.wallSeconds ?? Number.POSITIVE_INFINITY, "s", LATTICE_CURIE_S));
    }
  }
  return figures;
}

function finished(replayed: Replayed | null): Replayed {
  if (replayed === null) throw new Error(`a replay took longer than ${TIME_LIMIT_S} s`);
  return replayed;
}

const describe = ({ jobs, readSeconds, replaySeconds, wallSeconds }: Replayed): string =>
  `${jobs} jobs, read ${readSeconds} s, replayed ${replaySeconds} s, ${wallSeconds.toFixed(2)} s in total`;
