// The body of an answer. A small one is a string, which goes out in one write with its headers. A page of records is
// encoded record by record into one buffer: as a string it would be copied whole at every step of its way.

import type { Message } from "@bufbuild/protobuf";
import { jsonPieces, type Route } from "@lattice/wire";

/** Two records of most lists. */
const MAX_TEXT = 4_096;

export function bodyOf(route: Route, answer: Message): string | Buffer {
  const pieces = jsonPieces(route.rpc.output, answer);
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length <= MAX_TEXT ? pieces.join("") : encoded(pieces);
}

function encoded(pieces: readonly string[]): Buffer {
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(piece);
  const body = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const piece of pieces) at += body.write(piece, at);
  return body;
}
