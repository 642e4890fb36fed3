// The names of what can be measured of an allocation: what servers answer to, and what a shell completes.

export const METRICS = [
  "gpu_utilization",
  "gpu_memory_used",
  "gpu_power_draw",
  "cpu_utilization",
  "memory_used",
  "network_tx_bytes",
  "network_rx_bytes",
  "io_read_bytes",
  "io_write_bytes",
  "io_latency_p99",
] as const;
