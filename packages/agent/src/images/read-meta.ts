// Reads `meta/env.json` from an image. Its content comes from a user: lattice-mounts mounts it without a place, and
// reads one regular file below it without links. An image that cannot be mounted is detected here, before it enters the
// cache.

import { mountsProgram } from "../base/mounts-program.ts";
import { execFile, HELPER_ENVIRONMENT } from "../base/programs.ts";
import { type ImageMeta, NO_META, parseMeta } from "./views.ts";

const TIMEOUT_MS = 20_000;
const MAX_META_BYTES = 8 * 1024 * 1024;
const META_FILE = "meta/env.json";
const NO_FILE = 44;

export function readMeta(image: string): Promise<ImageMeta> {
  const program = mountsProgram();
  if (program === null) return Promise.reject(new Error("the image cannot be mounted: lattice-mounts was not built"));
  const words = ["--read-image", image, META_FILE, String(MAX_META_BYTES)];
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_META_BYTES, env: HELPER_ENVIRONMENT };
  return new Promise((resolve, reject) => {
    execFile(program, words, options, (error, stdout, stderr) => {
      if (error === null) return resolve(Promise.resolve(stdout).then(parseMeta));
      if (error.code === NO_FILE) return resolve(NO_META);
      const why =
        stderr
          .trim()
          .split("\n")[0]
          ?.replace(/^lattice-mounts: /, "") ?? "";
      reject(new Error(`the image cannot be mounted: ${why === "" ? error.message : why}`));
    });
  });
}
