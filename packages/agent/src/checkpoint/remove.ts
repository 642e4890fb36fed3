// Removes checkpoints that no attempt will resume from: older ones while newer ones are taken, and all of them some
// time after the allocation has ended. The folders belong to the user, who may have replaced them, so removal runs
// with the user's rights only.

import { spawn } from "node:child_process";
import { readdir, rmdir } from "node:fs/promises";
import type { FileOwner } from "./control.ts";

interface Older {
  /** Those with lower numbers go. */
  readonly below: number;
  /** But for these. */
  readonly kept: readonly number[];
  /** `null` for the agent's own user. */
  readonly owner: FileOwner | null;
}

/** Resolves to null when the folders are gone or never existed, else to the error. Never rejects. */
export async function removeOlder(folder: string, { below, kept, owner }: Older): Promise<string | null> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => /^[1-9]\d{0,9}$/.test(name) && Number(name) < below && !kept.includes(Number(name)),
  );
  return names.length === 0 ? null : remove(folder, names, owner);
}

/** All of them, and the folder itself where nothing else is in it. */
export async function removeAll(folder: string, owner: FileOwner | null): Promise<string | null> {
  const problem = await removeOlder(folder, { below: Number.POSITIVE_INFINITY, kept: [], owner });
  if (problem === null) await rmdir(folder).catch(() => undefined);
  return problem;
}

/** A large checkpoint on slow storage. */
const LIMIT_MS = 3_600_000;

function remove(folder: string, names: readonly string[], owner: FileOwner | null): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn("rm", ["-rf", "--", ...names], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
      timeout: LIMIT_MS,
      ...(owner === null || process.getuid?.() !== 0 ? {} : { uid: owner.uid, gid: owner.gid }),
    });
    let said = "";
    child.stderr.on("data", (bytes: Buffer) => {
      said = `${said}${bytes}`.slice(0, 500);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => resolve(code === 0 ? null : said.trim() || `rm ended with ${code}`));
  });
}
