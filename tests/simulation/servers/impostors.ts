// Servers that answer at an address of the cluster although they must not be obeyed: one of another cluster, and one
// that leads on an older copy of the log. Both are real servers. Half of the time they behave like a version that knows
// no identities: the agent's own check is then the only one.

import { create } from "@bufbuild/protobuf";
import { createMemoryStore, type MemoryStore } from "@lattice/server";
import { pb } from "@lattice/wire";
import { createExternalSystems } from "../external/external-systems.ts";
import type { MessageFaults } from "../faults/message-faults.ts";
import type { StreamEnd } from "../network/connection.ts";
import type { Network } from "../network/network.ts";
import { submission } from "../users/requests.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import { createServer, type ServerParts, type SimulatedServer } from "./server.ts";

export const FOREIGN_SERVER = "foreign";
export const OLDER_SERVER = "older";
const FOREIGN_CLUSTER = "f".repeat(32);
/** Submissions to the foreign cluster at each of its starts. */
const FOREIGN_JOBS = 3;
/** Until it leads. */
const LEADING_MS = 1_500;
/** A log that is longer than any of the cluster. */
const LONGER = 1_000_000;

interface ImpostorParts {
  readonly world: World;
  readonly network: Network;
  readonly epochMs: number;
}

/** The effect of an impostor on a connection. */
interface Disguise {
  /** The server does not see the identity of the agent. */
  readonly blind: boolean;
  /** The welcome names no cluster. */
  readonly nameless: boolean;
  /** Added to the index of each message; -1 removes it. */
  readonly index: number;
}

export interface Impostors {
  /** Starts a server of another cluster. The returned function ends it. */
  foreign(random: Random): () => void;
  /** Starts a server on the log up to that entry. Returns null when such a copy is not possible. */
  older(random: Random, store: MemoryStore, through: number): (() => void) | null;
}

export function createImpostors(parts: ImpostorParts): Impostors {
  const foreignStore = createMemoryStore();
  let jobs = 0;

  function submitTo(server: SimulatedServer, random: Random): void {
    for (let n = 0; n < FOREIGN_JOBS; n++) {
      jobs += 1;
      const { command } = submission(random, `foreign-${jobs}`);
      server.propose(command).catch(() => undefined);
    }
  }

  return {
    foreign(random) {
      const index = random.pick([0, -1, LONGER]);
      const disguise = { blind: random.chance(0.7), nameless: random.chance(0.5), index };
      const server = createServer({ ...serverParts(parts, disguise), name: FOREIGN_SERVER, store: foreignStore });
      server.start();
      parts.world.after(LEADING_MS, () => submitTo(server, random));
      return server.crash;
    },
    older(random, store, through) {
      const copy = olderCopy(store, through);
      if (copy === null) return null;
      const disguise = { blind: random.chance(0.7), nameless: false, index: 0 };
      const server = createServer({
        ...serverParts(parts, disguise),
        name: OLDER_SERVER,
        store: copy,
        clusterId: undefined,
        // It never commits: a longer log would be another cluster.
        logFaultRates: { lossBefore: 1, lossAfter: 0, slowMs: 0, stale: false },
      });
      server.start();
      return server.crash;
    },
  };
}

const NO_FAULTS: MessageFaults = {
  strikes: () => false,
  met: () => undefined,
  begin: () => undefined,
  stop: () => undefined,
};

function serverParts(
  { world, network, epochMs }: ImpostorParts,
  disguise: Disguise,
): Omit<ServerParts, "name" | "store"> {
  return {
    world,
    network,
    epochMs,
    clusterId: FOREIGN_CLUSTER,
    logFaultRates: { lossBefore: 0, lossAfter: 0, slowMs: 0, stale: false },
    external: createExternalSystems(world),
    messageFaults: NO_FAULTS,
    dataDir: null,
    onReplica: () => undefined,
    onFailed: (server) => server.crash(),
    onExpelled: () => undefined,
    onCycle: () => undefined,
    onWon: () => undefined,
    onCut: () => undefined,
    pass: () => Promise.reject(new Error("it has no other servers")),
    accepted: (stream) => disguised(stream, disguise),
  };
}

/** The store as it was at that entry; null when its snapshots are all newer. */
function olderCopy(store: MemoryStore, through: number): MemoryStore | null {
  const snapshots = store.snapshots.filter(({ info, corrupt }) => !corrupt && info.index <= through);
  if (store.firstIndex > 1 && (snapshots.at(-1)?.info.index ?? 0) < store.firstIndex - 1) return null;
  const copy = createMemoryStore();
  copy.entries.push(...store.entries.filter(({ index }) => index <= through));
  copy.firstIndex = store.firstIndex;
  copy.term = store.term;
  copy.snapshots = snapshots;
  return copy;
}

function disguised(stream: StreamEnd, { blind, nameless, index }: Disguise): StreamEnd {
  const mine: StreamEnd = {
    ...stream,
    write(message) {
      const { message: body, logIndex } = message as pb.ServerMessage;
      const shown =
        nameless && body.case === "welcome"
          ? { case: body.case, value: create(pb.WelcomeSchema, { ...body.value, clusterId: "", clusterGeneration: 0 }) }
          : body;
      const shownIndex = index < 0 ? 0 : logIndex + index;
      return stream.write(create(pb.ServerMessageSchema, { message: shown, logIndex: shownIndex }));
    },
    on(event, listener) {
      if (event !== "data") return stream.on(event, listener);
      return stream.on(event, (message) => {
        const { message: body } = message as pb.AgentMessage;
        if (body.case !== "hello") return listener(message);
        // A node without a cluster would join this one, as a new node of any cluster does.
        if (body.value.clusterId === "") return stream.end();
        if (!blind) return listener(message);
        const hello = create(pb.HelloSchema, { ...body.value, clusterId: "", clusterGeneration: 0, knownLogIndex: 0 });
        listener(create(pb.AgentMessageSchema, { message: { case: "hello", value: hello } }));
      });
    },
  };
  return mine;
}
