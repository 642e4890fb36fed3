// Requests checkpoints from the program of one attempt on a real node, by the method it was submitted with, and
// detects completion. A pending request is not repeated: the agent may have restarted while the program writes.

import { dirname, join } from "node:path";
import { hasOwnNetwork } from "../network/inside.ts";
import { addressProblem, askByCall } from "./callback.ts";
import {
  type FileOwner,
  keepResult,
  keptResult,
  readDone,
  readEndpoint,
  requestedNumber,
  writeRequest,
} from "./control.ts";
import { checkpointByDmtcp } from "./dmtcp.ts";
import { removeOlder } from "./remove.ts";
import { raiseFlag, readFlag } from "./shared-flag.ts";
import { askBySignal, CATCHER_WAIT_MS, catchers } from "./signal.ts";
import { bytesIn, writtenIn } from "./size.ts";
import type { Answer, CheckpointResult, CheckpointTarget, PendingCheckpoint, ProgramCheckpoint } from "./types.ts";

export interface CheckpointPlace {
  readonly mode: string;
  /** 0 when the program itself publishes where it listens. */
  readonly port: number;
  /** Between agent and program. */
  readonly control: string;
  /** Under which checkpoints have a folder each, on storage that all nodes share. */
  readonly checkpoints: string;
  /** The first of the nodes counts what is written; all see the same. */
  readonly isFirst: boolean;
  /** The user of the program; `null` for the agent's own user. */
  readonly owner: FileOwner | null;
  /** Processes of the attempt, without the wrapper. */
  readonly members: () => Promise<readonly number[]>;
  /** The program, whose network is called; `null` when it does not exist. */
  readonly first: () => Promise<number | null>;
  readonly now: () => number;
}

type Heard = (answer: Answer) => void;

export function checkpointTarget(place: CheckpointPlace): CheckpointTarget {
  const { control, mode } = place;
  const folderOf = (number: number): string => join(place.checkpoints, String(number));
  const bytesOf = (number: number): number => (place.isFirst ? bytesIn(folderOf(number)) : 0);

  /**
   * Checks a program's claim of success against the files: after a failed write many programs continue as if nothing
   * had happened.
   */
  function checked(result: CheckpointResult): CheckpointResult {
    const { number, ok } = result;
    if (!ok || result.bytes > 0 || !place.isFirst) return result;
    const { bytes, seen } = writtenIn(folderOf(number));
    if (bytes > 0 || !seen) return { ...result, bytes };
    const message = `the program says that it is done, but nothing was written to ${folderOf(number)}`;
    return { number, ok: false, bytes: 0, message };
  }

  async function ask(wanted: ProgramCheckpoint, heard: Heard): Promise<PendingCheckpoint> {
    const known = place.mode !== "grpc" && requestedNumber(control) === wanted.number;
    if (!known) writeRequest(control, wanted, folderOf(wanted.number));
    if (!known && place.isFirst && wanted.kept !== undefined) {
      // Not awaited: leftovers are removed with the next checkpoint.
      void removeOlder(place.checkpoints, { below: wanted.number, kept: wanted.kept, owner: place.owner });
    }
    const growth = growthOf(() => bytesOf(wanted.number), heard, place.now);
    switch (mode) {
      case "shmem":
        if (!known) raiseFlag(control, wanted);
        return { look: async () => lookAtFlag(control, wanted, heard), close: () => undefined };
      case "grpc":
        return call(place, { ...wanted, directory: folderOf(wanted.number) }, heard);
      case "dmtcp":
        return checkpointByDmtcp({ ...place, directory: folderOf(wanted.number), growth, heard });
      default:
        return signalled(place, wanted, { heard, growth, known });
    }
  }

  return {
    ask,
    word() {
      const kept = keptResult(control);
      const number = requestedNumber(control);
      if (number === 0 || kept?.number === number) return kept;
      const flag = mode === "shmem" ? readFlag(control) : null;
      if (flag?.done === number) return checked(success(number));
      const done = flag === null ? readDone(control, number) : null;
      if (done === null) return null;
      return done.ok ? checked(success(number)) : { number, ok: false, bytes: 0, message: done.message };
    },
    keep: async (result) => keepResult(control, checked(result)),
  };
}

const success = (number: number): CheckpointResult => ({ number, ok: true, bytes: 0, message: "" });

function signalled(
  { control, members, now }: CheckpointPlace,
  { number }: ProgramCheckpoint,
  { heard, growth, known }: { readonly heard: Heard; readonly growth: () => void; readonly known: boolean },
): PendingCheckpoint {
  const askedAt = now();
  let told = known;
  return {
    async look() {
      const done = readDone(control, number);
      if (done !== null)
        return heard(done.ok ? { kind: "done", bytes: null } : { kind: "failed", message: done.message });
      if (told) return growth();
      const able = catchers(await members());
      if (able.length > 0) {
        told = true;
        askBySignal(able);
      } else if (now() - askedAt >= CATCHER_WAIT_MS) {
        heard({ kind: "failed", message: "no process of it catches SIGUSR1" });
      }
    },
    close: () => undefined,
  };
}

function lookAtFlag(control: string, { number }: ProgramCheckpoint, heard: Heard): void {
  const { done, failed, percent } = readFlag(control);
  if (done === number) heard({ kind: "done", bytes: null });
  else if (failed === number) heard({ kind: "failed", message: "the program says that it failed" });
  else if (percent > 0) heard({ kind: "progress", percent: Math.min(100, percent) });
}

/** A program that cannot be reached is called again after this. */
const CALL_AGAIN_MS = 500;

function call(
  place: CheckpointPlace,
  ask: ProgramCheckpoint & { readonly directory: string },
  heard: Heard,
): PendingCheckpoint {
  const { control, port, now } = place;
  const gone = new AbortController();
  let calling = false;
  let nextAt = 0;
  let said: Answer | null = null;

  async function once(endpoint: string): Promise<void> {
    said = null;
    const problem = addressProblem(endpoint);
    if (problem !== null) return heard({ kind: "failed", message: problem });
    const listen: Heard = (answer) => {
      said = answer;
      heard(answer);
    };
    const pid = await place.first();
    const inside = pid !== null && (await hasOwnNetwork(pid)) ? { pid, dir: dirname(control) } : null;
    await askByCall({ ...ask, endpoint, inside }, listen, gone.signal);
    const last = said as Answer | null;
    if (last?.kind === "defer") nextAt = now() + last.ms;
    else if (last === null || last.kind === "progress") {
      heard({ kind: "failed", message: "the program ended its answer without saying what came of it" });
    }
  }

  return {
    async look() {
      const endpoint = port > 0 ? `127.0.0.1:${port}` : readEndpoint(control);
      if (calling || endpoint === "" || now() < nextAt) return;
      calling = true;
      nextAt = now() + CALL_AGAIN_MS;
      void once(endpoint)
        .catch((error: Error) => {
          // Where it never spoke it may not listen yet; the time is limited elsewhere.
          if (said !== null && !gone.signal.aborted) heard({ kind: "failed", message: error.message });
        })
        .finally(() => {
          calling = false;
        });
    },
    close: () => gone.abort(),
  };
}

const LOOK_AT_SIZE_EVERY_MS = 1_000;

/** A folder that grows counts as progress. */
function growthOf(bytes: () => number, heard: Heard, now: () => number): () => void {
  let lookedAt = now();
  let last = 0;
  return () => {
    if (now() - lookedAt < LOOK_AT_SIZE_EVERY_MS) return;
    lookedAt = now();
    const size = bytes();
    if (size > last) heard({ kind: "progress" });
    last = size;
  };
}
