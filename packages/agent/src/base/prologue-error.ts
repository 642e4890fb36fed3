// The prologue failed to prepare a node for an attempt. The stage names the step: user, image, view, mounts, scratch,
// memory, container. The server receives it and tries another node.

export class PrologueError extends Error {
  readonly stage: string;
  constructor(stage: string, message: string) {
    super(message);
    this.name = "PrologueError";
    this.stage = stage;
  }
}
