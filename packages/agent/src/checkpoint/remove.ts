// Removes checkpoints that nobody goes on from any more: older ones while others are taken, and all of them some time after the
// allocation has ended. What is there belongs to the user, who may have put anything in its place: it is removed with the user's rights
// and no others.

import { spawn } from "node:child_process";
import { readdir, rmdir } from "node:fs/promises";
import type { Owner } from "./control.ts";

export interface Older {
  /** Those with lower numbers go. */
  readonly below: number;
  /** But for these. */
  readonly kept: readonly number[];
  /** Null: the agent's own user. */
  readonly owner: Owner | null;
}

/** Null: they are gone, or there were none; else what went wrong. Never rejects. */
export async function removeOlder(folder: string, { below, kept, owner }: Older): Promise<string | null> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => /^[1-9]\d{0,9}$/.test(name) && Number(name) < below && !kept.includes(Number(name)),
  );
  return names.length === 0 ? null : remove(folder, names, owner);
}

/** All of them, and the folder itself where nothing else is in it. */
export async function removeAll(folder: string, owner: Owner | null): Promise<string | null> {
  const problem = await removeOlder(folder, { below: Number.POSITIVE_INFINITY, kept: [], owner });
  if (problem === null) await rmdir(folder).catch(() => undefined);
  return problem;
}

/** A large checkpoint on slow storage. */
const LIMIT_MS = 3_600_000;

function remove(folder: string, names: readonly string[], owner: Owner | null): Promise<string | null> {
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
