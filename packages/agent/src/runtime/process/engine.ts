// The engine for commands that run on the node itself, with or without uenv images mounted.

import type { Engine } from "../base/engine.ts";
import { clean } from "./clean.ts";
import { type MountedUenvs, prepare } from "./prepare.ts";
import { start } from "./start.ts";
import { stop } from "./stop.ts";

export const processEngine: Engine<MountedUenvs> = { prepare, start, stop, clean };
