// Containers by Sarus, where a site runs those: how an image comes to a user's repository, and the words that run one. Sarus is
// a program with root's rights that everybody calls as themselves: images are a user's own, and what a site lets into
// containers (GPUs, its MPI) is said by Sarus's own configuration. Container and node share processes and network.

import { execFile } from "node:child_process";
import { PrologueError } from "../../prologue/prologue-error.ts";
import { asUser, type RunAs } from "../user/user.ts";
import { HELPER_PATH } from "../user/way-in.ts";
import type { ContainerBind } from "./bind.ts";

export interface Sarus {
  readonly program: string;
}

export interface SarusPlan {
  readonly image: string;
  /** Empty: the image's own. */
  readonly workdir: string;
  /** Names of variables that count for more than the image's; their values are in the environment. */
  readonly names: readonly string[];
  /** Whole, for what a program with root's rights is not given by its environment. */
  readonly variables: readonly string[];
  readonly binds: readonly ContainerBind[];
  readonly devices: readonly string[];
  /** Where the first process inside writes its number. */
  readonly pidFile: string;
}

const PULL_TIMEOUT_MS = 600_000;
const CALL_TIMEOUT_MS = 60_000;
const MAX_LISTING_BYTES = 4 * 1024 * 1024;

/** What is named by a digest cannot have changed; anything else is asked for anew. */
export async function pullBySarus(sarus: Sarus, image: string, user: RunAs | null, signal: AbortSignal): Promise<void> {
  const how = { user, signal };
  if (image.includes("@")) {
    const listed = await call(sarus, ["images", "--digests"], { ...how, timeout: CALL_TIMEOUT_MS });
    if (listed.code === 0 && isListed(listed.stdout, image)) return;
  }
  const pulled = await call(sarus, ["pull", image], { ...how, timeout: PULL_TIMEOUT_MS });
  if (pulled.code !== 0) throw new PrologueError("image", `cannot pull ${image}: ${lastLine(pulled)}`);
}

/** Lines of REPOSITORY TAG DIGEST and more; a repository may be written without its server. */
function isListed(listing: string, image: string): boolean {
  const [name = "", digest = ""] = image.split("@");
  const colon = name.lastIndexOf(":");
  const repository = colon > name.lastIndexOf("/") ? name.slice(0, colon) : name;
  return listing.split("\n").some((line) => {
    const [listed = "", , found = ""] = line.trim().split(/\s+/);
    return found === digest && (repository === listed || repository.endsWith(`/${listed}`));
  });
}

/** What the job's own words go behind. */
export const sarusWords = ({ program }: Sarus, plan: SarusPlan): readonly string[] => [
  program,
  "run",
  ...(plan.workdir === "" ? [] : [`--workdir=${plan.workdir}`]),
  ...plan.binds.map(({ at, to = at, readOnly }) => {
    return `--mount=type=bind,source=${at},destination=${to}${readOnly ? ",readonly" : ""}`;
  }),
  ...plan.devices.map((device) => `--device=${device}`),
  ...[...plan.names, ...plan.variables].flatMap((variable) => ["--env", variable]),
  ...["--entrypoint", "", plan.image],
  ...["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', plan.pidFile],
];

interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function call(
  { program }: Sarus,
  words: readonly string[],
  { user, signal, timeout }: { user: RunAs | null; signal: AbortSignal; timeout: number },
): Promise<Called> {
  const [first = "", ...rest] = [...(user === null ? [] : asUser(user, false)), program, ...words];
  const env = { PATH: HELPER_PATH, ...(user === null ? {} : { HOME: user.home, USER: user.name }) };
  const how = { timeout, signal, env, cwd: "/", maxBuffer: MAX_LISTING_BYTES };
  return new Promise((resolve, reject) => {
    execFile(first, rest, how, (error, stdout, stderr) => {
      if (signal.aborted) return reject(signal.reason);
      resolve({ code: error === null ? 0 : Number(error.code ?? 1) || 1, stdout, stderr });
    });
  });
}

const lastLine = ({ stdout, stderr }: Called): string =>
  `${stdout}\n${stderr}`.trim().split("\n").at(-1)?.slice(0, 400) ?? "";
