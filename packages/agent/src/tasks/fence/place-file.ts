// Where a node stands in the tree of a launch, kept beside the launch for an agent that is started again meanwhile.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";

const NAME = "fence";

export async function keepPlace(dir: string, place: pb.FencePlace): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(join(dir, NAME), toBinary(pb.FencePlaceSchema, place), { mode: 0o600 });
}

/** Null: it stands in none. */
export function readPlace(dir: string): Promise<pb.FencePlace | null> {
  return readFile(join(dir, NAME)).then(
    (bytes) => fromBinary(pb.FencePlaceSchema, bytes),
    () => null,
  );
}
