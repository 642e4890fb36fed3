// The checkpoint broker: looks at every running allocation now and then, proposes what pays, and keeps what it
// thought for those who ask. It has no memory that matters: whoever leads next looks again.

import { type Allocation, type AllocationId, duration, isPlaced, type View } from "@lattice/core";
import type { Logger } from "pino";
import { type CheckpointHub, checkpointOrdersFor } from "../../agents/checkpoint-order.ts";
import type { CheckpointBoard } from "../../checkpoint/board.ts";
import { type Clock, steadyNow } from "../../clock.ts";
import type { CheckpointConfig } from "../../config/checkpoint.ts";
import type { Sequencer } from "../../leader/sequencer.ts";
import type { Beat } from "../periodic.ts";
import type { CheckpointAnswer, CheckpointSignals } from "./answer.ts";
import { decideCheckpoints, type Judgement } from "./decide.ts";
import { decideOverdueCheckpoints, type SeenCheckpoints } from "./overdue.ts";
import { decideStorageNotice } from "./storage.ts";

/** Beyond everything a node may grant. */
const MARGIN = duration(60_000);
/** How long a node may take to answer before it is asked again. */
const SAY_AGAIN = duration(15_000);

/** After which every node that is there has told a new leader of its storage: several beats of its heart. */
const ALL_TOLD = duration(30_000);

export interface BrokerParts {
  readonly view: () => View;
  readonly clock: Clock;
  readonly board: CheckpointBoard;
  /** As it is now. */
  readonly config: () => CheckpointConfig;
  readonly evaluated: (verdict: string) => void;
}

export interface Broker {
  answer(id: AllocationId): CheckpointAnswer;
  /** For the scheduler: absent where nobody takes checkpoints. */
  signals(): CheckpointSignals;
  /** What is done over and over while this server leads. */
  beats(leading: {
    readonly sequencer: Sequencer;
    readonly hub: CheckpointHub;
    readonly logger: Logger;
  }): readonly Beat[];
  /** Another server leads. */
  forget(): void;
}

function whyNotWritten(record: Allocation | undefined, board: CheckpointBoard): string {
  if (record === undefined || !isPlaced(record.phase)) return "";
  const away = record.phase.nodes.find((node) => board.storageError(node) !== "");
  return away === undefined ? "" : `node ${away}: ${board.storageError(away)}`;
}

export function createBroker({ view, clock, board, config, evaluated }: BrokerParts): Broker {
  let judgements: ReadonlyMap<AllocationId, Judgement> = new Map();
  let signals: CheckpointSignals = {};
  let seen: SeenCheckpoints = new Map();

  function look() {
    const { rates, bytesPerSecond, gpuMemoryBytes, interval } = config();
    const decided = decideCheckpoints(view(), {
      now: clock.now(),
      rates,
      bytesPerSecond,
      gpuMemoryBytes,
      windowSeconds: interval / 1000,
      storageError: board.storageError,
    });
    judgements = decided.judgements;
    const { minutes, cannotWrite } = decided;
    signals = {
      ...(minutes.size === 0 ? {} : { checkpointMinutes: minutes }),
      ...(cannotWrite.size === 0 ? {} : { cannotWrite }),
    };
    return decided.ask;
  }

  function storageBeat(sequencer: Sequencer): Beat {
    const since = steadyNow(clock);
    return {
      name: "checkpoint storage",
      every: duration(2_000),
      turn: async () => {
        const told = decideStorageNotice(view(), board.away(), steadyNow(clock) - since >= ALL_TOLD);
        if (told !== null) await sequencer.propose(told);
      },
    };
  }

  return {
    answer(id) {
      const record = view().allocation(id);
      const n = record?.phase.kind === "checkpointing" ? record.phase.request.n : null;
      const progress = n === null ? null : board.progress(id, n);
      return { judgement: judgements.get(id) ?? null, progress, storageError: whyNotWritten(record, board) };
    },
    signals() {
      const { bytesPerSecond, gpuMemoryBytes } = config();
      return { ...signals, checkpointRates: { bytesPerSecond, gpuMemoryBytes } };
    },
    beats: ({ sequencer, hub, logger }) => [
      storageBeat(sequencer),
      {
        name: "checkpoint broker",
        get every() {
          return config().interval;
        },
        turn: async () => {
          const ask = look();
          for (const { verdict } of judgements.values()) evaluated(verdict);
          for (const { allocation, message } of ask) logger.info({ allocation }, `asking for a checkpoint: ${message}`);
          await Promise.all(ask.map((command) => sequencer.propose(command)));
        },
      },
      {
        name: "checkpoint orders",
        every: SAY_AGAIN,
        turn: async () => checkpointOrdersFor(view(), hub, config().keep),
      },
      {
        name: "checkpoint backstop",
        every: duration(5_000),
        turn: async () => {
          const verdict = decideOverdueCheckpoints(view(), { now: steadyNow(clock), seen, margin: MARGIN });
          seen = verdict.seen;
          await Promise.all(verdict.expired.map((command) => sequencer.propose(command)));
        },
      },
    ],
    forget() {
      judgements = new Map();
      signals = {};
      seen = new Map();
      board.forget();
    },
  };
}
