// Checks the images and mounts of a spec: image names are well formed, targets are below the allowed roots and do not
// overlap. Only the node can find out whether an image or a source exists.

import { isText, type Problems } from "../checks.ts";
import * as limit from "./limits.ts";
import type { Environment, Mount } from "./spec.ts";

const PATH = "allocation.environment";

export function checkSoftware(problems: Problems, environment: Environment): void {
  const { uenv = "", view = "", toolsUenv = "", image = "" } = environment;
  const images = parseUenvs(uenv);
  problems.unless(images !== null, `${PATH}.uenv`, NAME_RULE);
  problems.unless((images?.length ?? 0) <= limit.MAX_UENVS, `${PATH}.uenv`, `at most ${limit.MAX_UENVS} images`);
  const mounts = (images ?? []).flatMap((each) => (each.mount === "" ? [] : [each.mount]));
  for (const mount of mounts) checkTarget(problems, `${PATH}.uenv`, mount);
  problems.unless(firstOverlap(mounts) === null, `${PATH}.uenv`, "has mount points that overlap");
  problems.unless(toolsUenv === "" || parseUenvs(toolsUenv)?.length === 1, `${PATH}.tools_uenv`, NAME_RULE);
  const unfit = image === "" ? null : containerNameProblem(image);
  if (unfit !== null) problems.add(`${PATH}.image`, unfit);
  problems.unless(image === "" || uenv === "", `${PATH}.image`, "does not go together with uenv");
  problems.unless(view === "" || uenv !== "", `${PATH}.view`, "needs a uenv that it is a view of");
  const views = view === "" ? [] : view.split(",");
  problems.unless(views.length <= limit.MAX_VIEWS, `${PATH}.view`, `at most ${limit.MAX_VIEWS} views`);
  problems.unless(views.every(isViewName), `${PATH}.view`, "names views by letters, digits, `.`, `_`, `-` and commas");
}

export function checkMounts(problems: Problems, mounts: readonly Mount[]): void {
  const field = "allocation.data.mounts";
  problems.unless(mounts.length <= limit.MAX_MOUNTS, field, `must not have more than ${limit.MAX_MOUNTS}`);
  mounts.slice(0, limit.MAX_MOUNTS).forEach(({ source, target, tierHint, credentials }, i) => {
    const at = `${field}[${i}]`;
    checkSource(problems, `${at}.source`, source);
    checkTarget(problems, `${at}.target`, target);
    if (credentials !== undefined) checkCredentials(problems, `${at}.credentials`, source, credentials);
    problems.unless(TIERS.includes(tierHint), `${at}.tier_hint`, "must be hot, warm or cold");
  });
  const overlap = firstOverlap(mounts.slice(0, limit.MAX_MOUNTS).map(({ target }) => target));
  if (overlap !== null) problems.add(`${field}[${overlap}].target`, "overlaps with that of another mount");
}

export interface WantedUenv {
  readonly name: string;
  /** Empty: the mount point of the image. */
  readonly mount: string;
}

/** Also used by nodes, before a name reaches the programs that fetch images. */
export function containerNameProblem(name: string): string | null {
  if (TRANSPORT.test(name)) return "names a transport; only images of registries are used, as registry/name:tag";
  if (name.length <= limit.MAX_IMAGE_LENGTH && CONTAINER_NAME.test(name)) return null;
  return "is not the name of a container image";
}

/** The problem of a name that is an image of the site, a container image or a digest. */
export const imageNameProblem = (name: string): string | null =>
  DIGEST.test(name) || (name.length <= limit.MAX_IMAGE_LENGTH && UENV_NAME.test(name) && !TRANSPORT.test(name))
    ? null
    : containerNameProblem(name);

const NAME_RULE = "must be name/version:tag, with a mount point after another colon where needed";

/** Returns `null` when the text is not a list of images. */
export function parseUenvs(text: string): readonly WantedUenv[] | null {
  if (text === "") return [];
  const wanted: WantedUenv[] = [];
  for (const part of text.split(",")) {
    const cut = part.lastIndexOf(":/");
    const name = cut < 0 ? part : part.slice(0, cut);
    const mount = cut < 0 ? "" : part.slice(cut + 1);
    if (!UENV_NAME.test(name) || name.length > limit.MAX_IMAGE_LENGTH) return null;
    wanted.push({ name, mount });
  }
  return wanted;
}

const UENV_NAME = /^[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*){0,4}(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?$/i;
const CONTAINER_NAME = /^[a-z0-9][\w.-]*(:\d+)?(\/[\w.-]+)*(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?$/i;
/** Names of these forms are files and daemons of the node to the programs that read images, not registries. */
const TRANSPORT =
  /^(docker|docker-archive|docker-daemon|oci|oci-archive|dir|containers-storage|ostree|sif|tarball|atomic):(?!\d+\/)/i;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const isViewName = (name: string): boolean => /^[\w.-]{1,64}(:[\w.-]{1,64})?$/.test(name);
const TIERS: readonly string[] = ["", "hot", "warm", "cold"];

function checkSource(problems: Problems, field: string, source: string): void {
  problems.text(field, source, limit.MAX_SOURCE_LENGTH);
  const path = /^(file|nfs|s3):\/\/./.test(source) ? source.slice(source.indexOf("://") + 2) : source;
  problems.unless(path.startsWith("/"), field, "must be an absolute path, or begin with file://, nfs:// or s3://");
  problems.unless(!path.split("/").includes(".."), field, "must not contain ..");
}

/** A path of a credentials file: its content never passes through a server. */
function checkCredentials(problems: Problems, field: string, source: string, path: string): void {
  problems.text(field, path, limit.MAX_PATH_LENGTH);
  problems.unless(source.startsWith("s3://"), field, "goes with s3:// alone");
  problems.unless(path.startsWith("/"), field, "must be an absolute path of a file on the node");
  problems.unless(!path.split("/").includes(".."), field, "must not contain ..");
}

/** Also used by nodes, for the mount point of an image. */
export function targetProblem(target: string): string | null {
  if (!isText(target, limit.MAX_PATH_LENGTH) || !target.startsWith("/")) return "must be an absolute path";
  const parts = target.slice(1).split("/");
  if (parts.includes("..") || parts.includes(".")) return "must not contain . or ..";
  if (parts.includes("")) return "must not end in / or contain //";
  if (/[\n,:]/.test(target)) return "must not contain commas, colons or line ends";
  if (limit.MOUNT_ROOTS.some((root) => target === root || target.startsWith(`${root}/`))) return null;
  return `must lie under one of ${limit.MOUNT_ROOTS.join(", ")}`;
}

function checkTarget(problems: Problems, field: string, target: string): void {
  const problem = targetProblem(target);
  if (problem !== null) problems.add(field, problem);
}

/** Returns the position of the first target that equals or lies inside another. */
export function firstOverlap(targets: readonly string[]): number | null {
  const position = targets.findIndex((target, i) =>
    targets.some((other, j) => i > j && (target === other || isInside(target, other) || isInside(other, target))),
  );
  return position < 0 ? null : position;
}

const isInside = (inner: string, outer: string): boolean => inner.startsWith(`${outer}/`);
