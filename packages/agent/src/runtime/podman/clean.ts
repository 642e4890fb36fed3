// Removes the container that podman leaves behind when it is killed itself, its secrets, its count of kills, and the image's pin.

import type { PrologueParts, PrologueTarget } from "../base/engine.ts";
import { nameOf } from "../prologue/attempt-holdings.ts";
import { type ContainerStore, removeContainer } from "./podman.ts";
import { forgetKills } from "./runtime-script.ts";
import { removeSecrets } from "./secrets.ts";

export async function clean(
  store: ContainerStore,
  { groupParent, images }: PrologueParts,
  { key, group }: Pick<PrologueTarget, "key" | "group">,
): Promise<void> {
  images.cache.release(key);
  try {
    await removeContainer(store, nameOf(key));
  } finally {
    await removeSecrets(store, key).finally(() => forgetKills(store.folder, groupParent(group)));
  }
}
