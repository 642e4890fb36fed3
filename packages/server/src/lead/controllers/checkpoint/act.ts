// The checkpoint broker: evaluates every running allocation at an interval, proposes the checkpoints that pay off, and
// keeps its judgements for queries. Its memory can be lost: the next leader evaluates again.

import { type Allocation, type AllocationId, duration, isPlaced, type View } from "@lattice/core";
import type { WorthRates } from "@lattice/scheduler";
import type { Logger } from "pino";
import { type Clock, monotonicNow } from "../../../base/clock.ts";
import type { Config } from "../../../base/config/index.ts";
import type { CheckpointBoard } from "../../../nodes/agents/checkpoint-board.ts";
import { checkpointOrdersFor } from "../../../nodes/agents/checkpoint-order.ts";
import type { AgentHub } from "../../../nodes/agents/hub.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { Controller } from "../periodic/periodic.ts";
import type { CheckpointAnswer, CheckpointSignals } from "./answer.ts";
import { decideBeforeWalltime, type SeenAttempts } from "./before-walltime.ts";
import { decideCheckpoints, type Judgement } from "./decide.ts";
import { decideOverdueCheckpoints, type SeenCheckpoints } from "./overdue.ts";
import { decideStorageNotice } from "./storage.ts";

/** Longer than any extension that a node may grant. */
const MARGIN = duration(60_000);
/** How long a node may take to answer before the order is repeated. */
const REPEAT_EVERY = duration(15_000);

/** By then every connected node has reported its storage to a new leader: several heartbeats. */
const ALL_REPORTED = duration(30_000);

/** Short beside the shortest lead. */
const BEFORE_WALLTIME_EVERY = duration(1_000);

interface BrokerParts {
  readonly view: () => View;
  readonly clock: Clock;
  readonly board: CheckpointBoard;
  readonly config: () => Pick<Config, "checkpoint">;
  readonly evaluated: (verdict: string) => void;
}

export interface Broker {
  answer(id: AllocationId): CheckpointAnswer;
  /** Signals for the scheduler. */
  signals(): CheckpointSignals;
  controllers(leading: {
    readonly sequencer: Sequencer;
    readonly hub: Pick<AgentHub, "send">;
    readonly logger: Logger;
  }): readonly Controller[];
  /** Clears the memory when this server stops leading. */
  forget(): void;
}

function storageProblem(record: Allocation | undefined, board: CheckpointBoard): string {
  if (record === undefined || !isPlaced(record.phase)) return "";
  const away = record.phase.nodes.find((node) => board.storageError(node) !== "");
  return away === undefined ? "" : `node ${away}: ${board.storageError(away)}`;
}

const GB = 1e9;
const HOUR_SECONDS = 3_600;

const storageRates = ({ storageGbPerSecond, gpuMemoryGb }: Config["checkpoint"]) => ({
  bytesPerSecond: storageGbPerSecond * GB,
  gpuMemoryBytes: gpuMemoryGb * GB,
});

const worthRates = ({ nodeMtbfHours, storageSecondsPerGb, quietInterval }: Config["checkpoint"]): WorthRates => ({
  nodeMtbfSeconds: nodeMtbfHours * HOUR_SECONDS,
  storageSecondsPerGb,
  quietSeconds: quietInterval / 1000,
});

export function createBroker({ view, clock, board, config, evaluated }: BrokerParts): Broker {
  let judgements: ReadonlyMap<AllocationId, Judgement> = new Map();
  let signals: CheckpointSignals = {};
  let seen: SeenCheckpoints = new Map();
  let seenAttempts: SeenAttempts = new Map();

  function evaluate() {
    const { bytesPerSecond, gpuMemoryBytes } = storageRates(config().checkpoint);
    const decided = decideCheckpoints(view(), {
      now: clock.now(),
      rates: worthRates(config().checkpoint),
      bytesPerSecond,
      gpuMemoryBytes,
      windowSeconds: config().checkpoint.evaluationInterval / 1000,
      storageError: board.storageError,
    });
    judgements = decided.judgements;
    const { minutes, cannotWrite } = decided;
    signals = {
      ...(minutes.size === 0 ? {} : { checkpointMinutes: minutes }),
      ...(cannotWrite.size === 0 ? {} : { cannotWrite }),
    };
    return decided.requests;
  }

  function storageController(sequencer: Sequencer): Controller {
    const since = monotonicNow(clock);
    return {
      name: "checkpoint storage",
      every: duration(2_000),
      run: async () => {
        const notice = decideStorageNotice(view(), board.storageErrors(), monotonicNow(clock) - since >= ALL_REPORTED);
        if (notice !== null) await sequencer.propose(notice);
      },
    };
  }

  function walltimeController(sequencer: Sequencer): Controller {
    return {
      name: "checkpoint before the walltime",
      every: BEFORE_WALLTIME_EVERY,
      run: async () => {
        const { requests, seen: still } = decideBeforeWalltime(view(), {
          now: clock.now(),
          monotonic: monotonicNow(clock),
          seen: seenAttempts,
          rates: storageRates(config().checkpoint),
          storageError: board.storageError,
        });
        seenAttempts = still;
        await Promise.all(requests.map((command) => sequencer.propose(command)));
      },
    };
  }

  return {
    answer(id) {
      const record = view().allocation(id);
      const n = record?.phase.kind === "checkpointing" ? record.phase.request.n : null;
      const progress = n === null ? null : board.progress(id, n);
      return { judgement: judgements.get(id) ?? null, progress, storageError: storageProblem(record, board) };
    },
    signals() {
      return { ...signals, checkpointRates: storageRates(config().checkpoint) };
    },
    controllers: ({ sequencer, hub, logger }) => [
      storageController(sequencer),
      walltimeController(sequencer),
      {
        name: "checkpoint broker",
        get every() {
          return config().checkpoint.evaluationInterval;
        },
        run: async () => {
          const requests = evaluate();
          for (const { verdict } of judgements.values()) evaluated(verdict);
          for (const { allocation, message } of requests)
            logger.info({ allocation, reason: message }, "checkpoint requested");
          await Promise.all(requests.map((command) => sequencer.propose(command)));
        },
      },
      {
        name: "checkpoint orders",
        every: REPEAT_EVERY,
        run: async () => checkpointOrdersFor(view(), hub, config().checkpoint.keep),
      },
      {
        name: "checkpoint backstop",
        every: duration(5_000),
        run: async () => {
          const verdict = decideOverdueCheckpoints(view(), { now: monotonicNow(clock), seen, margin: MARGIN });
          seen = verdict.seen;
          await Promise.all(verdict.expired.map((command) => sequencer.propose(command)));
        },
      },
    ],
    forget() {
      judgements = new Map();
      signals = {};
      seen = new Map();
      seenAttempts = new Map();
      board.forget();
    },
  };
}
