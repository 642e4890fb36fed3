// Refuses images that would start features of the container engine: podman hands an image's annotations to the OCI
// runtime, which reads some of them as instructions to itself, as root. `run.oci.hooks.stdout` names a file that crun
// opens, `run.oci.handler` another runtime, `org.systemd.property.` settings of systemd. Pure.

import { PrologueError } from "../../base/prologue-error.ts";

const FEATURE = /^(run\.oci\.|org\.systemd\.|org\.criu\.|module\.wasm|io\.podman\.annotations\.)/;

export function refuseFeatures(
  image: string,
  described: readonly (Readonly<Record<string, string>> | null | undefined)[],
): void {
  const found = described.flatMap((texts) => Object.keys(texts ?? {})).find((name) => FEATURE.test(name.trim()));
  if (found === undefined) return;
  const named = JSON.stringify(found.slice(0, MAX_SHOWN));
  throw new PrologueError(
    "image",
    `${image} has the annotation or label ${named}, an instruction to the container runtime: rebuild it without`,
  );
}

const MAX_SHOWN = 80;
