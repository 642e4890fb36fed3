// What of the node a container sees, and where.

export interface ContainerBind {
  /** On the node, and inside unless `to` says otherwise. */
  readonly at: string;
  readonly to?: string;
  readonly readOnly: boolean;
}
