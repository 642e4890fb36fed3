// The condition of a node in the JSON of the REST interface.

export interface NodeCondition {
  readonly node: string;
  readonly conformance?: string;
  readonly components?: Readonly<Record<string, string>>;
  readonly faults?: readonly string[];
  readonly gpus?: readonly GpuCondition[];
  readonly nics?: readonly { readonly name: string; readonly firmware?: string; readonly fabric?: boolean }[];
  readonly disks?: readonly {
    readonly name: string;
    readonly model?: string;
    readonly size_gb?: number;
    readonly firmware?: string;
  }[];
  readonly examined_at?: string;
}

export interface GpuCondition {
  readonly index?: number;
  readonly vendor?: string;
  readonly model?: string;
  readonly uuid?: string;
  readonly memory_gb?: number;
  readonly pci?: string;
  readonly partitioned?: boolean;
  readonly capability?: string;
  readonly firmware?: string;
  readonly temperature_c?: number;
  readonly fault?: string;
  readonly nic?: string;
}
