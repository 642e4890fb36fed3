// The interface of everything that runs the command of an attempt: the node itself (`process`) or a container engine.
// An engine is stateless: it receives the node's means with every call. A further container engine is one folder with
// these functions and one line in `engines.ts`; the prologue, the epilogue and the runtime do not change.

import type { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { Trash } from "../../files/trash.ts";
import type { FileUser, UserFiles } from "../../files/user-files.ts";
import type { GpusBetweenUsers } from "../../gpu-clear/gpu-handover.ts";
import type { AttemptPlace, Isolation } from "../../host/isolation/isolation.ts";
import type { LimitGroups } from "../../host/isolation/limit-groups.ts";
import type { NodeInventory, NodeShares } from "../../host/isolation/node-shares.ts";
import type { MemoryPlace } from "../../host/memory-policy.ts";
import type { RunAs, UserMapping } from "../../host/user/user.ts";
import type { Users } from "../../host/user/users.ts";
import type { ContainerImage, Images } from "../../images/images.ts";
import type { NetworkDriver } from "../../network/driver.ts";
import type { DeviceHost } from "../devices/passed.ts";
import type { AttemptEntry, BindMount, DataMount } from "./entry-plan.ts";
import type { RemoteSources } from "./remote-sources.ts";
import type { ScratchFolders } from "./scratch.ts";

/** An attempt whose user, folders, mounts and share the prologue has prepared. */
export interface EngineAttempt extends PrologueTarget {
  /** `null` when the command runs as the agent's own user. */
  readonly runAs: RunAs | null;
  readonly folders: Readonly<Record<string, string>>;
  readonly data: readonly DataMount[];
  /** Folders of the attempt, for a container. */
  readonly binds: readonly BindMount[];
  /** Words before the command that set its memory policy. */
  readonly policy: readonly string[];
  /** Words before the command that make it checkpointable. */
  readonly checkpointer: readonly string[];
}

export interface StopContext {
  readonly isolation: Isolation;
  /** Reads the environments of processes. */
  readonly files: Pick<UserFiles, "environ">;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface Engine<Ready = unknown> {
  /** Brings the software of the attempt to the node. Throws a PrologueError. */
  prepare(parts: PrologueParts, attempt: EngineAttempt, signal: AbortSignal): Promise<Ready>;
  /** Returns how the wrapper starts the command. */
  start(parts: PrologueParts, attempt: EngineAttempt, ready: Ready): Promise<Prepared>;
  /** Resolves when no process of the attempt is left, or when the signal aborts. */
  stop(place: AttemptPlace, context: StopContext): Promise<void>;
  /** Releases what the engine keeps for the attempt. Called after `stop`; repeating it is harmless. */
  clean(parts: PrologueParts, target: Pick<PrologueTarget, "key" | "group">): Promise<void>;
}

export interface ContainerEngine<Ready = unknown> extends Engine<Ready> {
  /** As listed in the node's capabilities; empty when the node has no engine. */
  readonly name: string;
  /** The engine creates control groups below the attempt's, so devices are denied only after its start. */
  readonly createsGroups: boolean;
  /** Returns how often the kernel killed a process of the container for lack of memory. */
  oomKills(groupParent: string): number;
  /** Returns the attempts that have a container on this node. */
  attempts(): Promise<readonly string[]>;
  /** Brings an image into the engine's own store. `known`: the image that was fetched under that name before. */
  pull(name: string, signal: AbortSignal, known?: string | null): Promise<ContainerImage>;
  removeImage(id: string): Promise<void>;
}

/** Where an engine is opened. */
export interface EnginePlace {
  /** The value of --container-runtime. */
  readonly choice: string;
  /** Folder of the image cache. */
  readonly cacheDir: string;
  /** Registries that speak plain HTTP. */
  readonly insecureRegistries: readonly string[];
  /** Folders that are searched for programs. */
  readonly path: readonly string[];
  readonly isRoot: boolean;
}

export interface PrologueParts {
  readonly images: Images;
  readonly engines: { readonly process: Engine; readonly container: ContainerEngine };
  /** Files of the node that every container sees. */
  readonly offered: () => Promise<readonly ContainerBind[]>;
  /** The node, as the source of devices and files. */
  readonly devices: DeviceHost;
  readonly users: Users;
  readonly mapping: UserMapping;
  readonly memory: MemoryPlace;
  readonly scratch: ScratchFolders;
  /** For what users leave below the data folder. */
  readonly trash: Trash;
  /** How attempts get from root to their users. */
  readonly entry: AttemptEntry;
  /** Every operation below a folder that a user can write. */
  readonly files: UserFiles;
  /** Empty when allocations get no output folder. */
  readonly outputRoot: string;
  /** Source of home folders, with placeholders; empty when they are on the node. */
  readonly homeSource: string;
  /** Allowed remote sources, and the programs that mount them. */
  readonly sources: RemoteSources;
  readonly umask: string;
  readonly isRoot: boolean;
  readonly shares: NodeShares;
  /** The resources to share. */
  readonly inside: () => NodeInventory;
  /** `null` when GPUs are not cleared. */
  readonly gpus: GpusBetweenUsers | null;
  readonly limits: Pick<LimitGroups, "withoutDevices" | "pin">;
  /** Keeps attempts in their network domains. */
  readonly network: NetworkDriver;
  /** Path of the attempt's control groups below every hierarchy. */
  readonly groupParent: (group: string) => string;
}

export interface PrologueTarget {
  readonly key: string;
  /** The name of its control groups. */
  readonly group: string;
  readonly dir: string;
  readonly order: pb.RunOrder;
  readonly environment: Record<string, string>;
}

export interface Prepared {
  /** Put before the command. */
  readonly before: readonly string[];
  /** Exported before the command words; empty when the words before the command set the job's variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Working directory of the wrapper before the command. */
  readonly workdir: string;
  /** The user of the command; `null` for the agent's own. */
  readonly owner: FileUser | null;
  /** The words that change from the agent's user to the job's; empty when they are the same. */
  readonly writer: readonly string[];
  /** The complete environment of the job. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface ContainerBind {
  /** Path on the node, and inside unless `to` is set. */
  readonly at: string;
  readonly to?: string;
  readonly readOnly: boolean;
}
