// What an agent that is started again has to know of a launch, kept beside it: where its node stands in the tree, and what the
// next leader is told about it.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";

const PLACE = "fence";
const TICKET = "ticket";

export const keepPlace = (dir: string, place: pb.FencePlace): Promise<void> =>
  keep(dir, PLACE, toBinary(pb.FencePlaceSchema, place));

export const keepTicket = (dir: string, ticket: pb.LaunchTicket): Promise<void> =>
  keep(dir, TICKET, toBinary(pb.LaunchTicketSchema, ticket));

/** Null: it stands in none. */
export function readPlace(dir: string): Promise<pb.FencePlace | null> {
  return readFile(join(dir, PLACE)).then(
    (bytes) => fromBinary(pb.FencePlaceSchema, bytes),
    () => null,
  );
}

/** Null: the launch ends with its leader. */
export function readTicket(dir: string): Promise<pb.LaunchTicket | null> {
  return readFile(join(dir, TICKET)).then(
    (bytes) => fromBinary(pb.LaunchTicketSchema, bytes),
    () => null,
  );
}

async function keep(dir: string, name: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(join(dir, name), bytes, { mode: 0o600 });
}
