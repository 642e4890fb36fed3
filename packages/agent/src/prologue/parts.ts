// What a prologue works with: the node's means, the attempt it is for, and what comes out.

import type { GpusBetweenUsers } from "../gpu-clear/between-users.ts";
import type { Images } from "../images/images.ts";
import type { Order } from "../lifecycle/attempt.ts";
import type { NetworkDriver } from "../network/driver.ts";
import type { ContainerBind } from "../runtime/container/bind.ts";
import type { DeviceHost } from "../runtime/container/devices/passed.ts";
import type { ContainerStore } from "../runtime/container/podman.ts";
import type { Sarus } from "../runtime/container/sarus.ts";
import type { LimitGroups } from "../runtime/isolation/limit-groups.ts";
import type { Inside, NodeShares } from "../runtime/isolation/node-shares.ts";
import type { MemoryPlace } from "../runtime/memory-policy.ts";
import type { UserMapping } from "../runtime/user/user.ts";
import type { Users } from "../runtime/user/users.ts";
import type { RemoteSources } from "./remote-sources.ts";
import type { ScratchFolders } from "./scratch.ts";

export interface PrologueParts {
  readonly images: Images;
  /** In words why there is none, or podman's store. */
  readonly containers: ContainerStore | string;
  /** Runs containers instead, where the site says so; in words why it cannot. Null: the site does not. */
  readonly sarus: Sarus | string | null;
  /** What of the node every container sees. */
  readonly offered: () => Promise<readonly ContainerBind[]>;
  /** The node, for what containers are given of it. */
  readonly devices: DeviceHost;
  readonly users: Users;
  readonly mapping: UserMapping;
  readonly memory: MemoryPlace;
  readonly scratch: ScratchFolders;
  /** Empty: allocations get no output folder. */
  readonly outputRoot: string;
  /** Where homes are mounted from, with placeholders; empty: they are on the node. */
  readonly homeSource: string;
  /** What may be mounted from elsewhere, and by what. */
  readonly sources: RemoteSources;
  readonly umask: string;
  readonly isRoot: boolean;
  readonly shares: NodeShares;
  /** What there is to be shared. */
  readonly inside: () => Inside;
  /** Null: nothing here can clear them. */
  readonly gpus: GpusBetweenUsers | null;
  readonly limits: Pick<LimitGroups, "withoutDevices" | "pin">;
  /** Keeps attempts in their network domains. */
  readonly network: NetworkDriver;
  /** Path of the attempt's control groups below every hierarchy. */
  readonly groupParent: (group: string) => string;
}

export interface Target {
  readonly key: string;
  /** The name of its control groups. */
  readonly group: string;
  readonly dir: string;
  readonly order: Order;
  readonly environment: Record<string, string>;
}

export interface Prepared {
  /** Put before the command. */
  readonly before: readonly string[];
  /** What those words begin with. */
  readonly environment: Record<string, string>;
  /** Among those words are some that may say why the command is not begun. */
  readonly tells?: boolean;
  /** Where the wrapper goes before the command. */
  readonly workdir: string;
  /** Whom it becomes; null: nobody but the agent's own user. */
  readonly uid: number | null;
  /** The words that make the agent's user the job's; none: it is. */
  readonly writer: readonly string[];
  /** The job's own environment, whole. */
  readonly variables: Readonly<Record<string, string>>;
}
