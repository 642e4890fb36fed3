// A node could not be made ready for an attempt. The stage says where: user, image, view, mounts,
// scratch, memory, container. It is told to the server, which tries another node.

export class PrologueError extends Error {
  readonly stage: string;
  constructor(stage: string, message: string) {
    super(message);
    this.name = "PrologueError";
    this.stage = stage;
  }
}
