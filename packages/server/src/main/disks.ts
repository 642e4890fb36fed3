// The folders that a server writes to, each of which may be on a disk of its own.

import { join } from "node:path";
import { parseS3 } from "@lattice/wire";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../base/config/index.ts";
import type { Logger, Metrics } from "../base/observe/index.ts";
import { DiskWatch, type WatchedFolder } from "../state/disks/watch.ts";

export const openDisks = (
  config: Config,
  { clock, metrics, logger }: { readonly clock: Clock; readonly metrics: Metrics; readonly logger: Logger },
): Promise<DiskWatch> =>
  new DiskWatch({
    serverId: config.server.id,
    folders: foldersOf(config),
    clock,
    logger,
    measured: metrics.disk,
  }).start();

function foldersOf({ server, quorum, audit, backup, logs }: Config): readonly WatchedFolder[] {
  const { engine, dataDir, etcd } = quorum;
  const keepsLog = engine === "embedded" || (engine === "etcd" && etcd.managed);
  const history = join(server.dataDir, "history");
  return [
    // Without a log of its own, a server still needs its data folder.
    { name: "log", path: keepsLog ? dataDir : server.dataDir },
    { name: "history", path: history },
    { name: "audit", path: audit.dir },
    ...local("backup", backup.destination),
    ...local("output", logs.store),
  ];
}

/** An object store has no disk here. */
const local = (name: WatchedFolder["name"], place: string | null): readonly WatchedFolder[] =>
  place === null || parseS3(place) !== null ? [] : [{ name, path: place }];
