// Brings a container image into the Sarus repository of the user that it runs as. Refuses what Sarus cannot do.

import { HELPER_PATH } from "../../base/executable.ts";
import { execFile } from "../../base/programs.ts";
import { PrologueError } from "../../base/prologue-error.ts";
import { asUser, type RunAs } from "../../host/user/user.ts";
import type { EngineAttempt, PrologueParts } from "../base/engine.ts";
import { containerMounts } from "../container/binds.ts";
import { nameOf, noteHoldings } from "../prologue/attempt-holdings.ts";

export interface Sarus {
  readonly program: string;
}

const PULL_TIMEOUT_MS = 600_000;
const CALL_TIMEOUT_MS = 60_000;
const MAX_LISTING_BYTES = 4 * 1024 * 1024;

export async function prepare(
  sarus: Sarus,
  parts: PrologueParts,
  attempt: EngineAttempt,
  signal: AbortSignal,
): Promise<void> {
  const software = attempt.order.environment;
  if (software?.readOnly === true)
    throw new PrologueError(
      "container",
      "Sarus, which runs containers here, cannot keep a root file system from being written to",
    );
  const unfit = containerMounts(attempt, await parts.offered())
    .binds.flatMap(({ at, to = at }) => [at, to])
    .find((path) => path.includes(","));
  if (unfit !== undefined) throw new PrologueError("mounts", `Sarus cannot mount ${unfit}: there is a comma in it`);
  parts.images.checkContainer(software?.image ?? "");
  await pull(sarus, software?.image ?? "", attempt.runAs, signal);
  await noteHoldings(parts, attempt, nameOf(attempt.key));
}

/** An image named by digest cannot have changed; any other is pulled again. */
async function pull(sarus: Sarus, image: string, user: RunAs | null, signal: AbortSignal): Promise<void> {
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
  const [first = "", ...rest] = [...(user === null ? [] : asUser(user)), program, ...words];
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
