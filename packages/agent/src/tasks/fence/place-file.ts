// State of a launch for a restarted agent, kept in the launch's folder: the node's place in the fence tree, and the ticket
// for the next leader.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { makeOwnFolder } from "../../files/own-tree.ts";

const PLACE = "fence";
const TICKET = "ticket";

export const keepPlace = (dir: string, place: pb.FencePlace): Promise<void> =>
  keep(dir, PLACE, toBinary(pb.FencePlaceSchema, place));

export const keepTicket = (dir: string, ticket: pb.LaunchTicket): Promise<void> =>
  keep(dir, TICKET, toBinary(pb.LaunchTicketSchema, ticket));

/** Resolves to null when the launch has no tree. */
export function readPlace(dir: string): Promise<pb.FencePlace | null> {
  return readFile(join(dir, PLACE)).then(
    (bytes) => fromBinary(pb.FencePlaceSchema, bytes),
    () => null,
  );
}

/** Resolves to null when the launch ends with its leader. */
export function readTicket(dir: string): Promise<pb.LaunchTicket | null> {
  return readFile(join(dir, TICKET)).then(
    (bytes) => fromBinary(pb.LaunchTicketSchema, bytes),
    () => null,
  );
}

async function keep(dir: string, name: string, bytes: Uint8Array): Promise<void> {
  await makeOwnFolder(dir, 0o700);
  await writeFile(join(dir, name), bytes, { mode: 0o600 });
}
