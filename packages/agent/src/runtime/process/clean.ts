// Unpins the images of an attempt. Their mounts ended with its last process.

import type { Engine } from "../base/engine.ts";

export const clean: Engine["clean"] = async ({ images }, { key }) => images.cache.release(key);
