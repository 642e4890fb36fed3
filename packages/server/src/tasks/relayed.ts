// A launch that another server leads, for a caller of this one. Whether the caller has gone away is seen here alone: the leader
// is told, since from there it looks the same when this server is lost. One whose token has ended is to come back, so of that nothing is said.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { PeerClient } from "../peers/client.ts";
import { tokenEnded } from "./launch-facts.ts";

export interface RelayedBy {
  /** Fires when the caller goes, when its token has ended, or when this server stops. */
  readonly signal: AbortSignal;
  readonly closing: () => boolean;
}

export async function* relayedLaunch(
  peer: Pick<PeerClient, "launch" | "tellLaunch">,
  request: pb.LaunchTasksRequest,
  { signal, closing }: RelayedBy,
): AsyncGenerator<pb.LaunchTasksResponse> {
  const { allocationId, returns } = request;
  let launchId = "";
  let goesOn = true;
  try {
    for await (const event of peer.launch(request, signal)) {
      if (event.event.case === "started") launchId = event.event.value.launchId;
      goesOn = event.event.case !== "end";
      yield event;
    }
  } finally {
    const gone = signal.aborted && !closing() && !tokenEnded(signal);
    if (gone && goesOn && returns && launchId !== "") {
      const ended = create(pb.TellLaunchRequestSchema, { allocationId, launchId, end: true, over: true });
      // A leader that does not hear of it ends the launch when its caller does not come back.
      peer.tellLaunch(ended).catch(() => undefined);
    }
  }
}
