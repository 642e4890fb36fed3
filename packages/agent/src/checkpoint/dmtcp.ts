// Checkpoints of programs without checkpoint support, by DMTCP, where its programs are installed. The command runs
// under `dmtcp_launch` with its own coordinator, whose port is left in a file. A checkpoint is one call of
// `dmtcp_command` inside the attempt, where its limits, its mounts and its network apply; a resume is `dmtcp_restart`
// with the images of the checkpoint.

import { dirname, join } from "node:path";
import { HELPER_ENVIRONMENT, spawn } from "../base/programs.ts";
import { quoted } from "../base/shell-text.ts";
import type { FileUser, UserFiles } from "../files/user-files.ts";
import { MARKER } from "../host/isolation/process-group.ts";
import type { Control } from "./control.ts";
import type { Answer, AttemptAccess, PendingCheckpoint } from "./types.ts";

const DMTCP_PROGRAMS = ["dmtcp_launch", "dmtcp_command", "dmtcp_restart"] as const;

/** Returns which program is missing, or null. The search path is the user's, so the user's rights apply. */
export async function missingDmtcp(
  path: string,
  owner: FileUser | null,
  files: Pick<UserFiles, "missingProgram">,
): Promise<string | null> {
  const missing = await files.missingProgram(path, DMTCP_PROGRAMS, owner);
  return missing === null ? null : `checkpoints by dmtcp need ${missing}, which is not installed on this node`;
}

const PORT_FILE = "dmtcp.port";
const ASK_SCRIPT_TIMEOUT_MS = 86_400_000;

interface DmtcpLaunch {
  readonly control: string;
  /** Parent directory of the checkpoints. */
  readonly checkpoints: string;
  /** Folder of the checkpoint to resume from; empty for a fresh start. */
  readonly from: string;
}

/** Prefix of the command; the rest are a shell's arguments. */
export function dmtcpWords({ control, checkpoints, from }: DmtcpLaunch): readonly string[] {
  const fresh = quoted(freshFolder(checkpoints));
  const options = `--new-coordinator --coord-port 0 --port-file ${quoted(join(control, PORT_FILE))} --ckptdir ${fresh}`;
  const line = from === "" ? `dmtcp_launch ${options} "$@"` : `dmtcp_restart ${options} ${quoted(from)}/*.dmtcp`;
  return ["/bin/sh", "-c", `mkdir -p ${fresh} && exec ${line}`, "sh"];
}

/** Where images are written; complete ones are moved to the directory of their checkpoint. */
const freshFolder = (checkpoints: string): string => join(checkpoints, "dmtcp");

interface DmtcpAsk extends Control {
  readonly checkpoints: string;
  readonly directory: string;
  /** Search path of the job. */
  readonly path: string;
  readonly inside: () => Promise<AttemptAccess | null>;
  readonly growth: () => Promise<void>;
  readonly heard: (answer: Answer) => void;
}

export const NOT_RUNNING = "the allocation does not run on this node now";

export async function checkpointByDmtcp(ask: DmtcpAsk): Promise<PendingCheckpoint> {
  const { checkpoints, directory, control, growth, heard } = ask;
  const script = 'dmtcp_command --coord-port "$1" --bcheckpoint && mkdir -p "$3" && mv "$2"/*.dmtcp "$3"/';
  const port = await portIn(ask);
  if (port === "") throw new Error("its DMTCP coordinator has not started");
  const inside = await ask.inside();
  if (inside === null) throw new Error(NOT_RUNNING);
  const [program = "", ...words] = [
    ...[...inside.groups, ...inside.enter],
    // The user's own program, found like the job's; what enters the attempt has another search path.
    ...["/usr/bin/env", `PATH=${ask.path}`],
    ...["/bin/sh", "-c", script, "sh", port, freshFolder(checkpoints), directory],
  ];
  const child = spawn(program, words, {
    cwd: "/",
    env: { ...HELPER_ENVIRONMENT, [MARKER]: dirname(control) },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: ASK_SCRIPT_TIMEOUT_MS,
  });
  let complaint = "";
  child.stderr?.on("data", (piece: Buffer) => {
    complaint = (complaint + piece.toString()).slice(-MAX_COMPLAINT);
  });
  child.once("error", (error) => heard({ kind: "failed", message: error.message }));
  child.once("close", (code) =>
    heard(code === 0 ? { kind: "done", bytes: null } : { kind: "failed", message: complaint.trim() || `exit ${code}` }),
  );
  return { look: growth, close: () => child.kill() };
}

const MAX_COMPLAINT = 500;
const MAX_PORT_BYTES = 16;

async function portIn({ control, owner, files }: Control): Promise<string> {
  const found = await files.head(join(control, PORT_FILE), owner, MAX_PORT_BYTES).catch(() => Buffer.alloc(0));
  const text = found.toString("latin1").trim();
  return /^\d{1,5}$/.test(text) ? text : "";
}
