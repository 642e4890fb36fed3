// Reads `meta/env.json` from an image by mounting it briefly in a mount namespace that ends with the process: it needs
// only system tools and leaves nothing behind. An image that cannot be mounted is detected here, before it enters the
// cache.

import { execFile } from "../base/programs.ts";
import { type ImageMeta, NO_META, parseMeta } from "./views.ts";

const TIMEOUT_MS = 20_000;
const MAX_META_BYTES = 8 * 1024 * 1024;
const NO_FILE = 44;

/** `at`: any folder; the mount over it is visible only inside the namespace. */
export function readMeta(image: string, at: string): Promise<ImageMeta> {
  const script = [
    '/bin/mount -t squashfs -o ro,loop,nosuid,nodev "$1" "$2" || exit 1',
    `[ -f "$2/meta/env.json" ] || exit ${NO_FILE}`,
    'exec /bin/cat "$2/meta/env.json"',
  ].join("\n");
  const args = ["-m", "--propagation", "private", "--", "/bin/sh", "-c", script, "sh", image, at];
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_META_BYTES, env: {} };
  return new Promise((resolve, reject) => {
    execFile("/usr/bin/unshare", args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(Promise.resolve(stdout).then(parseMeta));
      if (error.code === NO_FILE) return resolve(NO_META);
      const firstLine = stderr.trim().split("\n")[0] ?? "";
      reject(new Error(`the image cannot be mounted: ${firstLine === "" ? error.message : firstLine}`));
    });
  });
}
