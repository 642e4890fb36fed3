// How fast rm-replay is: the classic policies on their own engine, and the real scheduler and `apply`. The
// rate counts the simulation; reading the trace, and the whole run from spawn to exit, are told beside it.
import { atLeast, type Bench, below, type Figure, plain } from "./figure.ts";
import { type Folder, type Replayed, withReplay } from "./replay-program.ts";

const ROUNDS = 3;
const EASY_JOBS_PER_S = 300_000;
const EASY_CURIE_S = 20;
const LATTICE_JOBS_PER_S = 3000;
const LATTICE_CURIE_S = 180;
/** Beyond this a full run is not waited for: the rate of its beginning is told instead. */
const PATIENCE_S = 600;
const PROBE_JOBS = 1000;

export const replay: Bench = async (say) =>
  withReplay((folder) => [...easyFigures(folder, say), ...latticeFigures(folder, say)]);

type Say = (text: string) => void;

function easyFigures(folder: Folder, say: Say): readonly Figure[] {
  const kth = folder.trace("kth-sp2");
  if (!kth.isReal) say("the shared traces are not here: a seeded one stands in");
  const rounds = Array.from({ length: ROUNDS }, () =>
    finished(folder.time(kth.file, ["--policy", "easy"], PATIENCE_S)),
  );
  for (const round of rounds) say(`easy on KTH SP2: ${told(round)}`);
  const best = (seconds: (round: Replayed) => number): number =>
    Math.max(...rounds.map((round) => round.jobs / seconds(round)));
  const curie = finished(folder.time(folder.trace("cea-curie").file, ["--policy", "easy"], PATIENCE_S));
  say(`easy on CEA Curie: ${told(curie)}`);
  return [
    atLeast(
      "easy_kth",
      best((round) => round.replaySeconds),
      "jobs/s",
      EASY_JOBS_PER_S,
    ),
    plain(
      "easy_kth_with_reading",
      best((round) => round.replaySeconds + round.readSeconds),
      "jobs/s",
    ),
    plain(
      "easy_kth_from_spawn_to_exit",
      best((round) => round.wallSeconds),
      "jobs/s",
    ),
    below("easy_curie_from_spawn_to_exit", curie.wallSeconds, "s", EASY_CURIE_S),
  ];
}

function latticeFigures(folder: Folder, say: Say): readonly Figure[] {
  const figures: Figure[] = [];
  for (const [name, jobs] of [
    ["kth-sp2", 28_481],
    ["cea-curie", 295_540],
  ] as const) {
    const { file } = folder.trace(name);
    const words = ["--policy", "lattice"];
    const probe = finished(folder.time(file, [...words, "--jobs", String(PROBE_JOBS)], PATIENCE_S));
    const expected = (jobs / probe.jobs) * probe.replaySeconds;
    const whole = expected > PATIENCE_S ? null : folder.time(file, words, PATIENCE_S);
    const shown = whole ?? probe;
    say(`lattice on ${name}${whole === null ? `, the first ${PROBE_JOBS} jobs only` : ""}: ${told(shown)}`);
    const rate = shown.jobs / shown.replaySeconds;
    figures.push(
      name === "kth-sp2"
        ? atLeast("lattice_kth", rate, "jobs/s", LATTICE_JOBS_PER_S)
        : plain("lattice_curie_rate", rate, "jobs/s"),
    );
    if (name === "cea-curie") {
      figures.push(below("lattice_curie", whole?.wallSeconds ?? Number.POSITIVE_INFINITY, "s", LATTICE_CURIE_S));
    }
  }
  return figures;
}

function finished(replayed: Replayed | null): Replayed {
  if (replayed === null) throw new Error(`a replay took longer than ${PATIENCE_S} s`);
  return replayed;
}

const told = ({ jobs, readSeconds, replaySeconds, wallSeconds }: Replayed): string =>
  `${jobs} jobs, read ${readSeconds} s, replayed ${replaySeconds} s, in all ${wallSeconds.toFixed(2)} s`;
